#include "runtime/kernels/portable/linear.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate {
namespace portable {
namespace {

Error run_fully_connected_per_tensor(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::FullyConnectedPerTensorArgs*>(args);
  linear(a, bases, [&](std::int32_t sum, std::int32_t /*channel*/) {
    return requantize(sum, a.multiplier, a.shift);
  });
  return Error::Ok;
}

}  // namespace

constexpr KernelOf<payload::Opcode::kFullyConnectedPerTensor> kFullyConnectedPerTensor =
    Kernel(operators::kFullyConnectedPerTensor, run_fully_connected_per_tensor);

Error fully_connected_per_tensor(const payload::FullyConnectedPerTensorArgs& args,
                                 const Bases& bases) {
  return kFullyConnectedPerTensor.run(&args, bases);
}

}  // namespace portable
}  // namespace cmsis_nn_delegate
