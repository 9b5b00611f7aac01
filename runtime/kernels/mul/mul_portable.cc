#include "runtime/kernels/mul/mul.h"

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_mul(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::MulArgs*>(args);
  multiply_elements(a, bases.resolve<const std::int8_t>(a.input1),
                    bases.resolve<const std::int8_t>(a.input2),
                    bases.resolve<std::int8_t>(a.output), a.count);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kMul> kMul = Kernel(operators::kMul, run_mul).in_place();

}  // namespace cmsis_nn_delegate::portable
