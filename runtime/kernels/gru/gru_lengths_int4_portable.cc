#include "runtime/kernels/gru/gru.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::GruLengthsInt4Args;
using Format = RecurrentFormat<std::int8_t, /*kNibbles=*/true>;

}  // namespace

Error run_gru_lengths_int4(const void* args, const Bases& bases) {
  return compute_gru<Format>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kGruLengthsInt4> kGruLengthsInt4 = Kernel(
    operators::kGruLengthsInt4, run_gru_lengths_int4, gru_scratch_bytes<Args, Format::Element>);

}  // namespace cmsis_nn_delegate::portable
