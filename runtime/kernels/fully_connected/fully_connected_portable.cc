#include "runtime/kernels/fully_connected/linear.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_fully_connected(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::FullyConnectedArgs*>(args);
  const auto* multiplier = bases.resolve<const std::int32_t>(a.multiplier);
  const auto* shift = bases.resolve<const std::int32_t>(a.shift);
  linear(a, bases, [&](std::int32_t sum, std::int32_t channel) {
    return requantize(sum, multiplier[channel], shift[channel]);
  });
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kFullyConnected> kFullyConnected =
    Kernel(operators::kFullyConnected, run_fully_connected);

}  // namespace cmsis_nn_delegate::portable
