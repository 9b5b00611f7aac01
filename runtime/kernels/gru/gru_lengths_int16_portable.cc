#include "runtime/kernels/gru/gru.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::GruLengthsInt16Args;
using Format = RecurrentFormat<std::int16_t>;

}  // namespace

Error run_gru_lengths_int16(const void* args, const Bases& bases) {
  return compute_gru<Format>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kGruLengthsInt16> kGruLengthsInt16 = Kernel(
    operators::kGruLengthsInt16, run_gru_lengths_int16, gru_scratch_bytes<Args, Format::Element>);

}  // namespace cmsis_nn_delegate::portable
