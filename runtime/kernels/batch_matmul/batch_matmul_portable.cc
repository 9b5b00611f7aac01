#include "runtime/kernels/batch_matmul/batch_matmul.h"
#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

Error run_batch_matmul(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::BatchMatmulArgs*>(args);
  multiply_matrices<std::int8_t>(a, bases, [&](const std::int8_t* row1, const std::int8_t* row2) {
    // 32767 products of two numbers of at most 255 fit.
    std::int32_t sum = 0;
    for (std::int32_t k = 0; k < a.input1_dims.c; ++k) {
      sum += (row1[k] + a.input1_offset) * (row2[k] + a.input2_offset);
    }
    const std::int32_t scaled = requantize(sum, a.multiplier, a.shift);
    return clamp(wrapping_add(scaled, a.output_offset), a.activation);
  });
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kBatchMatmul> kBatchMatmul =
    Kernel(operators::kBatchMatmul, run_batch_matmul);

}  // namespace cmsis_nn_delegate::portable
