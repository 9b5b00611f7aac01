#include "runtime/kernels/log_mel/log_mel.h"

namespace cmsis_nn_delegate::portable {

Error run_log_mel_int16(const void* args, const Bases& bases) {
  return compute_log_mel<std::int16_t>(*static_cast<const payload::LogMelInt16Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLogMelInt16> kLogMelInt16 = Kernel(
    operators::kLogMelInt16, run_log_mel_int16, log_mel_scratch_bytes<payload::LogMelInt16Args>);

}  // namespace cmsis_nn_delegate::portable
