#include "runtime/kernels/fully_connected/linear_nibbles.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_fully_connected_int4_int16(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::FullyConnectedInt4Int16Args*>(args);
  linear_nibbles<std::int16_t>(a, bases);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kFullyConnectedInt4Int16> kFullyConnectedInt4Int16 =
    Kernel(operators::kFullyConnectedInt4Int16, run_fully_connected_int4_int16);

}  // namespace cmsis_nn_delegate::portable
