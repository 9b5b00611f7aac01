// What the linked CMSIS-NN asks for as scratch memory.
#pragma once

#include <cstdint>

namespace cmsis_nn_delegate {
namespace conformance {

/// Bytes for a call, from arm_*_get_buffer_size of this build's instruction set; negative for opcodes
/// without scratch. A ScratchSize of run_suite.h.
std::int32_t cmsis_nn_scratch_size(std::uint32_t opcode, const void* args);

}  // namespace conformance
}  // namespace cmsis_nn_delegate
