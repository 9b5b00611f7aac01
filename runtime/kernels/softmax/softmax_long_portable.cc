#include "runtime/kernels/common/softmax_rows.h"

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_softmax_long(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::SoftmaxLongArgs*>(args);
  softmax_rows::compute_rows<true>(a, bases.resolve<const std::int8_t>(a.input),
                                   bases.resolve<std::int8_t>(a.output));
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kSoftmaxLong> kSoftmaxLong =
    Kernel(operators::kSoftmaxLong, run_softmax_long);

}  // namespace cmsis_nn_delegate::portable
