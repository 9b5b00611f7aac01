#include "runtime/kernels/common/softmax_rows.h"
#include "runtime/kernels/masked_softmax/repeated_mask.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {
Error run_masked_softmax(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::MaskedSoftmaxArgs*>(args);
  softmax_rows::compute_rows<true>(
      a, bases.resolve<const std::int8_t>(a.input), bases.resolve<std::int8_t>(a.output),
      RepeatedMask(bases.resolve<const std::int8_t>(a.filter), a.mask_rows, a.row_size));
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kMaskedSoftmax> kMaskedSoftmax =
    Kernel(operators::kMaskedSoftmax, run_masked_softmax);

}  // namespace cmsis_nn_delegate::portable
