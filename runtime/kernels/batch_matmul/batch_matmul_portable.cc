#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {
namespace {

/// The first row of matrix [n][h] of a batch; an axis of size 1 has the same matrix for every n or h.
const std::int8_t* matrix(const std::int8_t* data, const payload::Dims& dims, std::int32_t n,
                          std::int32_t h) {
  const std::int32_t index = (dims.n == 1 ? 0 : n) * dims.h + (dims.h == 1 ? 0 : h);
  return data + index * dims.w * dims.c;
}

}  // namespace

Error run_batch_matmul(const void* args, const Bases& bases) {
  const auto& a = *static_cast<const payload::BatchMatmulArgs*>(args);
  const auto* input1 = bases.resolve<const std::int8_t>(a.input1);
  const auto* input2 = bases.resolve<const std::int8_t>(a.input2);
  auto* output = bases.resolve<std::int8_t>(a.output);
  const std::int32_t row_size = a.input1_dims.c;

  for (std::int32_t n = 0; n < a.output_dims.n; ++n) {
    for (std::int32_t h = 0; h < a.output_dims.h; ++h) {
      const std::int8_t* row1 = matrix(input1, a.input1_dims, n, h);
      for (std::int32_t i = 0; i < a.output_dims.w; ++i) {
        const std::int8_t* row2 = matrix(input2, a.input2_dims, n, h);
        for (std::int32_t j = 0; j < a.output_dims.c; ++j) {
          // 32767 products of two numbers of at most 255 fit.
          std::int32_t sum = 0;
          for (std::int32_t k = 0; k < row_size; ++k) {
            sum += (row1[k] + a.input1_offset) * (row2[k] + a.input2_offset);
          }
          row2 += row_size;
          const std::int32_t scaled = requantize(sum, a.multiplier, a.shift);
          *output++ = clamp(wrapping_add(scaled, a.output_offset), a.activation);
        }
        row1 += row_size;
      }
    }
  }
  return Error::Ok;
}

constexpr KernelOf<payload::Opcode::kBatchMatmul> kBatchMatmul =
    Kernel(operators::kBatchMatmul, run_batch_matmul);

}  // namespace cmsis_nn_delegate::portable
