#include "runtime/kernels/common/softmax_rows.h"

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_softmax(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::SoftmaxArgs*>(args);
  softmax_rows::compute_rows<false>(a, bases.resolve<const std::int8_t>(a.input),
                                    bases.resolve<std::int8_t>(a.output));
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kSoftmax> kSoftmax = Kernel(operators::kSoftmax, run_softmax);

}  // namespace cmsis_nn_delegate::portable
