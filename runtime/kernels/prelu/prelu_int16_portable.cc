#include "runtime/kernels/portable/portable.h"
#include "runtime/kernels/prelu/prelu.h"

namespace cmsis_nn_delegate::portable {

Error run_prelu_int16(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::PreluInt16Args*>(args);
  prelu_elements<std::int16_t>(a, bases, {0, 0, 0});
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kPreluInt16> kPreluInt16 =
    Kernel(operators::kPreluInt16, run_prelu_int16).in_place();

}  // namespace cmsis_nn_delegate::portable
