#include "runtime/kernels/gru/gru.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::GruLengthsInt4Int16Args;
using Format = RecurrentFormat<std::int16_t, /*kNibbles=*/true>;

}  // namespace

Error run_gru_lengths_int4_int16(const void* args, const Bases& bases) {
  return compute_gru<Format>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kGruLengthsInt4Int16> kGruLengthsInt4Int16 =
    Kernel(operators::kGruLengthsInt4Int16, run_gru_lengths_int4_int16,
           gru_scratch_bytes<Args, Format::Element>);

}  // namespace cmsis_nn_delegate::portable
