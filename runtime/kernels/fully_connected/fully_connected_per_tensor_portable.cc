#include "runtime/kernels/fully_connected/linear.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_fully_connected_per_tensor(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::FullyConnectedPerTensorArgs*>(args);
  linear(a, bases, [&](std::int32_t sum, std::int32_t /*channel*/) {
    return requantize(sum, a.multiplier, a.shift);
  });
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kFullyConnectedPerTensor> kFullyConnectedPerTensor =
    Kernel(operators::kFullyConnectedPerTensor, run_fully_connected_per_tensor);

}  // namespace cmsis_nn_delegate::portable
