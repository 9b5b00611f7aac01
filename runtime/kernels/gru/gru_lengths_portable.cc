#include "runtime/kernels/gru/gru.h"

namespace cmsis_nn_delegate::portable {

Error run_gru_lengths(const void* args, const Bases& bases) {
  return compute_gru(*static_cast<const payload::GruLengthsArgs*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kGruLengths> kGruLengths =
    Kernel(operators::kGruLengths, run_gru_lengths, gru_scratch_bytes<payload::GruLengthsArgs>);

}  // namespace cmsis_nn_delegate::portable
