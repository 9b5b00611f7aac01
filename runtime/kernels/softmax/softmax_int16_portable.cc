#include "runtime/kernels/common/softmax_int16.h"

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_softmax_int16(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::SoftmaxInt16Args*>(args);
  softmax_powers::compute_rows(a, bases.resolve<const std::int16_t>(a.input),
                               bases.resolve<std::int16_t>(a.output));
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kSoftmaxInt16> kSoftmaxInt16 =
    Kernel(operators::kSoftmaxInt16, run_softmax_int16);

}  // namespace cmsis_nn_delegate::portable
