#include "runtime/kernels/rnn/rnn.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::RnnInt4Args;
using Format = RecurrentFormat<std::int8_t, /*kNibbles=*/true>;

}  // namespace

Error run_rnn_int4(const void* args, const Bases& bases) {
  return compute_rnn<Format>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kRnnInt4> kRnnInt4 = Kernel(operators::kRnnInt4, run_rnn_int4);

}  // namespace cmsis_nn_delegate::portable
