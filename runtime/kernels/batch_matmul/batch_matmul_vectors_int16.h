// Products of the rows of two batches of matrices of int16, of two rows with two at a time, vector by vector.
#pragma once

#include <cstdint>

#include "runtime/kernels/batch_matmul/batch_matmul.h"
#include "runtime/kernels/batch_matmul/matrix_vectors_int16.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// Computes one call: the body of a kernel's function, which has no call more for it. `Vectors` has the function of
/// PlainMatrixVectorsInt16.
template <typename Vectors>
[[gnu::always_inline]] inline Error compute_batch_matmul_vectors_int16(const void* args,
                                                                       const Bases& bases) {
  constexpr std::int32_t kBytes = 2;
  const auto& a = *static_cast<const payload::BatchMatmulVectorsInt16Args*>(args);
  const auto* input1 = bases.resolve<const std::int16_t>(a.input1);
  const auto* input2 = bases.resolve<const std::int16_t>(a.input2);

  const std::int32_t row_size = a.input1_dims.c;
  const std::int32_t columns = a.output_dims.c;
  MatrixVectorsInt16 v;
  v.column_step = row_size * kBytes;
  v.second_step = columns == 1 ? 0 : v.column_step;
  v.columns = columns;
  v.row_size = row_size;
  v.output = bases.resolve<std::int16_t>(a.output);
  v.multiplier = reduced_multiplier(a.multiplier);
  v.shift = 15 - a.shift;
  const std::uint64_t half = std::uint64_t{1} << (14 - a.shift);
  v.half[0] = static_cast<std::int32_t>(half);
  v.half[1] = static_cast<std::int32_t>(half >> 32);
  v.least = a.activation.min;
  v.most = a.activation.max;

  for (std::int32_t n = 0; n < a.output_dims.n; ++n) {
    for (std::int32_t h = 0; h < a.output_dims.h; ++h) {
      v.row = matrix(input1, a.input1_dims, n, h);
      v.column = matrix(input2, a.input2_dims, n, h);
      for (std::int32_t left = a.output_dims.w; left > 0; left -= 2) {
        // The last row may be alone: twice the same.
        v.row_step = left == 1 ? 0 : row_size * kBytes;
        v.output_step = left == 1 ? 0 : columns * kBytes;
        Vectors::multiply(v);
        v.row += 2 * row_size;
        v.output += left == 1 ? columns : 2 * columns;
      }
    }
  }
  return Error::Ok;
}

/// Returns the kernel whose `run` calls compute_batch_matmul_vectors_int16().
constexpr Kernel batch_matmul_vectors_int16_kernel(Kernel::Run run) {
  return Kernel(operators::kBatchMatmulVectorsInt16, run).only_of(payload::ProviderId::kTuned);
}

}  // namespace cmsis_nn_delegate::portable
