// Draws new consistent parameters for a call: shapes, strides, padding, quantization.
#pragma once

#include <cstdint>

#include "tests/fuzz/random.h"

namespace cmsis_nn_delegate::fuzz {

/// Fills everything in `args`, the argument block of `opcode`, except references and scratch_bytes.
void redraw(std::uint16_t opcode, void* args, Random& random);

}  // namespace cmsis_nn_delegate::fuzz
