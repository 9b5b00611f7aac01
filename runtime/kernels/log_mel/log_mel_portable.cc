#include "runtime/kernels/log_mel/log_mel.h"

namespace cmsis_nn_delegate::portable {

Error run_log_mel(const void* args, const Bases& bases) {
  return compute_log_mel<std::int8_t>(*static_cast<const payload::LogMelArgs*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLogMel> kLogMel =
    Kernel(operators::kLogMel, run_log_mel, log_mel_scratch_bytes<payload::LogMelArgs>);

}  // namespace cmsis_nn_delegate::portable
