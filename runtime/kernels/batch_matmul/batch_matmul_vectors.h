// Products of the rows of two batches of matrices, of two rows with four at a time, vector by vector. Where scratch
// memory is short, those of the second input are computed in several passes.
#pragma once

#include <cstdint>

#include "runtime/kernels/batch_matmul/batch_matmul.h"
#include "runtime/kernels/batch_matmul/matrix_vectors.h"
#include "runtime/kernels/portable/portable.h"
#include "runtime/payload/bounds.h"

namespace cmsis_nn_delegate::portable {

/// The bytes of a row of the second input in the table.
constexpr std::int32_t matrix_column_bytes(std::int32_t row_size) {
  constexpr std::int32_t kVector = matrix_vectors::kVector;
  return (row_size + kVector - 1) / kVector * kVector + matrix_vectors::kStartBytes;
}

/// Computes one call: the body of a kernel's function, which has no call more for it. `Vectors` has the functions of
/// PlainMatrixVectors.
template <typename Vectors>
[[gnu::always_inline]] inline Error compute_batch_matmul_vectors(const void* args,
                                                                 const Bases& bases) {
  constexpr std::int32_t kRows = matrix_vectors::kRows;
  constexpr std::int32_t kVector = matrix_vectors::kVector;
  const auto& a = *static_cast<const payload::BatchMatmulVectorsArgs*>(args);
  const auto* input1 = bases.resolve<const std::int8_t>(a.input1);
  const auto* input2 = bases.resolve<const std::int8_t>(a.input2);
  auto* output = bases.resolve<std::int8_t>(a.output);

  const std::int32_t row_size = a.input1_dims.c;
  const std::int32_t columns = a.output_dims.c;
  MatrixColumns p;
  p.table = bases.resolve<std::int8_t>(a.scratch);
  p.vectors = (row_size - 1) / kVector;
  p.first = row_size - p.vectors * kVector;
  p.offset = a.input1_offset;
  p.start = row_size * a.input1_offset * a.input2_offset;
  p.row_bytes = matrix_column_bytes(row_size);
  MatrixVectors v;
  v.first = p.first;
  v.vectors = p.vectors;
  v.table = p.table;
  v.offset = a.input2_offset;
  v.multiplier = a.multiplier;
  v.shift = a.shift;
  v.zero_point = a.output_offset;
  v.least = a.activation.min;
  v.most = a.activation.max;
  const std::int32_t pass = rows_of_a_pass(a);

  for (std::int32_t n = 0; n < a.output_dims.n; ++n) {
    for (std::int32_t h = 0; h < a.output_dims.h; ++h) {
      const std::int8_t* const rows1 = matrix(input1, a.input1_dims, n, h);
      const std::int8_t* const rows2 = matrix(input2, a.input2_dims, n, h);
      for (std::int32_t first = 0; first < columns; first += pass) {
        p.rows = rows2 + first * row_size;
        p.columns = pass < columns - first ? pass : columns - first;
        Vectors::pack(p);
        v.rows = rows1;
        v.columns = p.columns;
        v.output = output + first;
        for (std::int32_t left = a.output_dims.w; left > 0; left -= kRows) {
          // The last row may be alone: twice the same.
          v.step = left == 1 ? 0 : row_size;
          v.output_step = left == 1 ? 0 : columns;
          Vectors::multiply(v);
          v.rows += kRows * row_size;
          v.output += kRows * columns;
        }
      }
      output += a.output_dims.w * columns;
    }
  }
  return Error::Ok;
}

/// Returns the scratch memory for the rows of the second input of a pass.
inline std::uint32_t batch_matmul_vectors_scratch_bytes(const void* args) {
  const auto& a = *static_cast<const payload::BatchMatmulVectorsArgs*>(args);
  return bounds::volume(matrix_column_bytes(a.input1_dims.c), rows_of_a_pass(a));
}

/// Returns the kernel whose `run` calls compute_batch_matmul_vectors().
constexpr Kernel batch_matmul_vectors_kernel(Kernel::Run run) {
  return Kernel(operators::kBatchMatmulVectors, run, batch_matmul_vectors_scratch_bytes)
      .only_of(payload::ProviderId::kTuned);
}

}  // namespace cmsis_nn_delegate::portable
