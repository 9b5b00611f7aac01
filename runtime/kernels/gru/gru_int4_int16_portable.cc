#include "runtime/kernels/gru/gru.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::GruInt4Int16Args;
using Format = RecurrentFormat<std::int16_t, /*kNibbles=*/true>;

}  // namespace

Error run_gru_int4_int16(const void* args, const Bases& bases) {
  return compute_gru<Format>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kGruInt4Int16> kGruInt4Int16 =
    Kernel(operators::kGruInt4Int16, run_gru_int4_int16, gru_scratch_bytes<Args, Format::Element>);

}  // namespace cmsis_nn_delegate::portable
