#include "runtime/kernels/gru/gru.h"

namespace cmsis_nn_delegate::portable {

Error run_gru(const void* args, const Bases& bases) {
  return compute_gru(*static_cast<const payload::GruArgs*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kGru> kGru =
    Kernel(operators::kGru, run_gru, gru_scratch_bytes<payload::GruArgs>);

}  // namespace cmsis_nn_delegate::portable
