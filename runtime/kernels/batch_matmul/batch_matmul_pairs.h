// Products of the rows of two batches of matrices, of two rows with four at a time. Where scratch memory is short,
// those of the second input are computed in several passes.
#pragma once

#include <cstdint>

#include "runtime/kernels/batch_matmul/batch_matmul.h"
#include "runtime/kernels/batch_matmul/matrix_pairs.h"
#include "runtime/kernels/common/repeated.h"
#include "runtime/kernels/portable/portable.h"
#include "runtime/payload/bounds.h"

namespace cmsis_nn_delegate::portable {

/// The words of two widened rows; twice as many for four.
constexpr std::int32_t matrix_pair_words(std::int32_t row_size) {
  return (row_size + matrix_pairs::kFour - 1) / matrix_pairs::kFour * matrix_pairs::kWords *
         matrix_pairs::kRows;
}

/// Widens the last one to three elements of `count` rows, which have no whole word, with 0 behind them.
[[gnu::noinline]] inline void widen_last(const std::int8_t* rows, std::int32_t step,
                                         std::int32_t* out, std::int32_t elements,
                                         std::int32_t count, std::int32_t offset) {
  for (std::int32_t i = 0; i < count; ++i, rows += step, ++out) {
    out[0] = matrix_pairs::pair(rows[0] + offset, elements > 2 ? rows[2] + offset : 0);
    out[count] = elements > 1 ? matrix_pairs::pair(rows[1] + offset, 0) : 0;
  }
}

/// Computes one call: the body of a kernel's function, which has no call more for it. `Pairs` has the functions of
/// PlainMatrixPairs.
template <typename Pairs>
[[gnu::always_inline]] inline Error compute_batch_matmul_pairs(const void* args,
                                                               const Bases& bases) {
  constexpr std::int32_t kColumns = matrix_pairs::kColumns;
  constexpr std::int32_t kRows = matrix_pairs::kRows;
  const auto& a = *static_cast<const payload::BatchMatmulPairsArgs*>(args);
  const auto* input1 = bases.resolve<const std::int8_t>(a.input1);
  const auto* input2 = bases.resolve<const std::int8_t>(a.input2);
  auto* output = bases.resolve<std::int8_t>(a.output);
  auto* const widened = bases.resolve<std::int32_t>(a.scratch);

  const std::int32_t row_size = a.input1_dims.c;
  const std::int32_t columns = a.output_dims.c;
  const std::int32_t words = row_size / matrix_pairs::kFour;
  const std::int32_t last = row_size % matrix_pairs::kFour;
  const std::int32_t pair_words = matrix_pair_words(row_size);
  const std::int32_t pass = rows_of_a_pass(a);

  MatrixPairs p;
  p.rows = widened;
  p.table = widened + pair_words;
  p.fours = pair_words / (matrix_pairs::kWords * kRows);
  p.shift = -a.shift;
  p.multiplier = a.multiplier;
  p.correction = static_cast<std::int32_t>(static_cast<std::uint32_t>(2 * a.output_offset + 1)
                                           << (p.shift - 1));
  p.limited = is_limited<std::int8_t>(a.activation);
  p.least = repeated<std::int8_t>(a.activation.min);
  p.most = repeated<std::int8_t>(a.activation.max);

  for (std::int32_t n = 0; n < a.output_dims.n; ++n) {
    for (std::int32_t h = 0; h < a.output_dims.h; ++h) {
      const std::int8_t* const rows1 = matrix(input1, a.input1_dims, n, h);
      const std::int8_t* const rows2 = matrix(input2, a.input2_dims, n, h);
      for (std::int32_t first = 0; first < columns; first += pass) {
        // The last columns are computed with some that have been there before, so that there are four.
        const std::int32_t begin = first + kColumns <= columns ? first : columns - kColumns;
        p.columns = pass < columns - begin ? pass : columns - begin;
        std::int32_t* out = widened + pair_words;
        for (std::int32_t i = 0; i < p.columns; i += kColumns, out += 2 * pair_words) {
          const std::int32_t at = i + kColumns <= p.columns ? i : p.columns - kColumns;
          const std::int8_t* four = rows2 + (begin + at) * row_size;
          if (words != 0) {
            Pairs::widen_four(four, row_size, out, words, a.input2_offset);
          }
          if (last != 0) {
            widen_last(four + row_size - last, row_size, out + 2 * (pair_words - kRows * 2), last,
                       kColumns, a.input2_offset);
          }
        }
        const std::int8_t* two = rows1;
        std::int8_t* result = output + begin;
        for (std::int32_t left = a.output_dims.w; left > 0; left -= kRows) {
          // The last row may be alone: twice the same.
          const bool alone = left == 1;
          const std::int32_t step = alone ? 0 : row_size;
          if (words != 0) {
            Pairs::widen_two(two, step, widened, words, a.input1_offset);
          }
          if (last != 0) {
            widen_last(two + row_size - last, step, widened + pair_words - kRows * 2, last, kRows,
                       a.input1_offset);
          }
          p.output0 = result;
          p.output1 = alone ? result : result + columns;
          Pairs::multiply(p);
          two += kRows * row_size;
          result += kRows * columns;
        }
      }
      output += a.output_dims.w * columns;
    }
  }
  return Error::Ok;
}

/// Returns the scratch memory for two rows of the first input, and those of the second one of a pass.
inline std::uint32_t batch_matmul_pairs_scratch_bytes(const void* args) {
  const auto& a = *static_cast<const payload::BatchMatmulPairsArgs*>(args);
  const std::int32_t rows = rows_of_a_pass(a) + matrix_pairs::kRows;
  return bounds::volume(matrix_pair_words(a.input1_dims.c) / matrix_pairs::kRows * 4, rows);
}

inline bool batch_matmul_pairs_accepts(const void* args) {
  const auto& a = *static_cast<const payload::BatchMatmulPairsArgs*>(args);
  return a.output_dims.c >= matrix_pairs::kColumns;
}

/// Returns the kernel whose `run` calls compute_batch_matmul_pairs().
constexpr Kernel batch_matmul_pairs_kernel(Kernel::Run run) {
  return Kernel(operators::kBatchMatmulPairs, run, batch_matmul_pairs_scratch_bytes)
      .limited_to(batch_matmul_pairs_accepts)
      .only_of(payload::ProviderId::kTuned);
}

}  // namespace cmsis_nn_delegate::portable
