#include "runtime/kernels/lstm_projected/lstm_projected.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::LstmProjectedInt4Args;
using Format = RecurrentFormat<std::int8_t, /*kNibbles=*/true>;

}  // namespace

Error run_lstm_projected_int4(const void* args, const Bases& bases) {
  return compute_lstm_projected<Format>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kLstmProjectedInt4> kLstmProjectedInt4 =
    Kernel(operators::kLstmProjectedInt4, run_lstm_projected_int4,
           lstm_projected_scratch_bytes<Args, Format::Element>);

}  // namespace cmsis_nn_delegate::portable
