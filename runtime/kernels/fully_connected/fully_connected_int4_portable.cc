#include "runtime/kernels/fully_connected/linear_nibbles.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_fully_connected_int4(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::FullyConnectedInt4Args*>(args);
  linear_nibbles<std::int8_t>(a, bases);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kFullyConnectedInt4> kFullyConnectedInt4 =
    Kernel(operators::kFullyConnectedInt4, run_fully_connected_int4);

}  // namespace cmsis_nn_delegate::portable
