#include "runtime/kernels/common/softmax_int16.h"
#include "runtime/kernels/masked_softmax/repeated_mask.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_masked_softmax_int16(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::MaskedSoftmaxInt16Args*>(args);
  softmax_powers::compute_rows(
      a, bases.resolve<const std::int16_t>(a.input), bases.resolve<std::int16_t>(a.output),
      RepeatedMask(bases.resolve<const std::int8_t>(a.filter), a.mask_rows, a.row_size));
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kMaskedSoftmaxInt16> kMaskedSoftmaxInt16 =
    Kernel(operators::kMaskedSoftmaxInt16, run_masked_softmax_int16);

}  // namespace cmsis_nn_delegate::portable
