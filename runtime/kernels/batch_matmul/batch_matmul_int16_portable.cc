#include "runtime/kernels/batch_matmul/batch_matmul.h"
#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_batch_matmul_int16(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::BatchMatmulInt16Args*>(args);
  multiply_matrices<std::int16_t>(
      a, bases, [&](const std::int16_t* row1, const std::int16_t* row2) {
        std::int64_t sum = 0;
        for (std::int32_t k = 0; k < a.input1_dims.c; ++k) {
          sum += row1[k] * row2[k];
        }
        return clamp_to<std::int16_t>(requantize_long(sum, a.multiplier, a.shift), a.activation);
      });
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kBatchMatmulInt16> kBatchMatmulInt16 =
    Kernel(operators::kBatchMatmulInt16, run_batch_matmul_int16);

}  // namespace cmsis_nn_delegate::portable
