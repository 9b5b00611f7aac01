#include "runtime/kernels/mul/mul.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_mul_int16(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::MulInt16Args*>(args);
  multiply_elements(a, bases.resolve<const std::int16_t>(a.input1),
                    bases.resolve<const std::int16_t>(a.input2),
                    bases.resolve<std::int16_t>(a.output), a.count);
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kMulInt16> kMulInt16 =
    Kernel(operators::kMulInt16, run_mul_int16).in_place();

}  // namespace cmsis_nn_delegate::portable
