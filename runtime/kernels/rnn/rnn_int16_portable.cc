#include "runtime/kernels/rnn/rnn.h"

namespace cmsis_nn_delegate::portable {
namespace {

using Args = payload::RnnInt16Args;
using Format = RecurrentFormat<std::int16_t>;

}  // namespace

Error run_rnn_int16(const void* args, const Bases& bases) {
  return compute_rnn<Format>(*static_cast<const Args*>(args), bases);
}

constexpr KernelOf<payload::Opcode::kRnnInt16> kRnnInt16 =
    Kernel(operators::kRnnInt16, run_rnn_int16);

}  // namespace cmsis_nn_delegate::portable
