#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/rnn/rnn_unit.h"

namespace cmsis_nn_delegate {
namespace portable {
namespace {

using Args = payload::RnnArgs;

}  // namespace

Error run_rnn(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const Args*>(args);
  run_recurrent_layer(
      a, bases,
      [](RecurrentLayer<Args>&, std::int32_t /*batch*/) {
        return RecurrentStart{nullptr, nullptr};
      },
      [&](RecurrentLayer<Args>& layer, std::int32_t j, std::int16_t* /*state*/) {
        compute_rnn_unit(a, layer, j);
      });
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kRnn> kRnn = Kernel(operators::kRnn, run_rnn);

}  // namespace portable
}  // namespace cmsis_nn_delegate
