#include "runtime/kernels/rnn/rnn.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::RnnInt4Int16Args;
using Format = RecurrentFormat<std::int16_t, /*kNibbles=*/true>;

}  // namespace

Error run_rnn_int4_int16(const void* args, const Bases& bases) {
  return compute_rnn<Format>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kRnnInt4Int16> kRnnInt4Int16 =
    Kernel(operators::kRnnInt4Int16, run_rnn_int4_int16);

}  // namespace cmsis_nn_delegate::portable
