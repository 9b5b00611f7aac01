// Sums of bytes, many at a time, on cores with DSP or MVE.
#pragma once

#include <cstdint>

#include "runtime/kernels/common/vectors.h"
#include "runtime/kernels/common/words.h"

namespace cmsis_nn_delegate::portable {

// So many bytes have a sum of 16 bits.
constexpr std::int32_t kMostByteRows = 256;

#if CMSIS_NN_DELEGATE_WORDS
/// The sum of `count` bytes that lie together, modulo 2^32, added to `sum`.
inline std::int32_t sum_of_bytes(std::int32_t sum, const std::int8_t* input, std::int32_t count) {
  // An instruction adds up the distances of four bytes from 0: these have 128 added.
  const auto moved = [](const std::int8_t* bytes) { return load_word(bytes) ^ 0x80808080u; };
  std::uint32_t total =
      static_cast<std::uint32_t>(sum) - 128u * static_cast<std::uint32_t>(count - count % 4);
  for (; count >= 16; count -= 16, input += 16) {
    total = __usada8(moved(input), 0, total);
    total = __usada8(moved(input + 4), 0, total);
    total = __usada8(moved(input + 8), 0, total);
    total = __usada8(moved(input + 12), 0, total);
  }
  for (; count >= 4; count -= 4, input += 4) {
    total = __usada8(moved(input), 0, total);
  }
  for (; count > 0; --count) {
    total += static_cast<std::uint32_t>(std::int32_t{*input++});
  }
  return static_cast<std::int32_t>(total);
}

/// Calls add() for each of `count` rows, which are `size` apart, and flush() after at most kMostByteRows of them.
template <typename Add, typename Flush>
inline void for_byte_rows(const std::int8_t* row, std::int32_t count, std::int32_t size, Add add,
                          Flush flush) {
  while (count > 0) {
    std::int32_t block = count < kMostByteRows ? count : kMostByteRows;
    count -= block;
    for (; block > 0; --block, row += size) {
      add(row);
    }
    flush();
  }
}

/// Adds up the columns of `count` rows of `size` bytes each, eight or four at a time, beginning with `start`, and
/// stores what result() makes of them. Returns how many columns it has done.
template <typename Result>
inline std::int32_t sum_of_byte_rows(std::int32_t start, const std::int8_t* input,
                                     std::int32_t count, std::int32_t size, std::int8_t* output,
                                     Result result) {
  const auto flush = [](FourSums& sums, std::int32_t* totals) {
    totals[0] += static_cast<std::int16_t>(sums.even);
    totals[1] += static_cast<std::int16_t>(sums.odd);
    totals[2] += sums.even >> 16;
    totals[3] += sums.odd >> 16;
    sums = FourSums();
  };
  std::int32_t column = 0;
  for (; column + 8 <= size; column += 8) {
    FourSums first;
    FourSums second;
    std::int32_t totals[8] = {start, start, start, start, start, start, start, start};
    for_byte_rows(
        input + column, count, size,
        [&](const std::int8_t* row) {
          first.add(row);
          second.add(row + 4);
        },
        [&] {
          flush(first, totals);
          flush(second, totals + 4);
        });
    store_word(output + column, result(totals));
    store_word(output + column + 4, result(totals + 4));
  }
  for (; column + 4 <= size; column += 4) {
    FourSums sums;
    std::int32_t totals[4] = {start, start, start, start};
    for_byte_rows(
        input + column, count, size, [&](const std::int8_t* row) { sums.add(row); },
        [&] { flush(sums, totals); });
    store_word(output + column, result(totals));
  }
  return column;
}
#endif

#if CMSIS_NN_DELEGATE_VECTORS
/// Sums of eight columns: those of columns 0, 2, 4 and 6, and those of columns 1, 3, 5 and 7.
struct EightTotals {
  int32x4_t even;
  int32x4_t odd;

  void add(int16x8_t sums) {
    even = vaddq_s32(even, vmovlbq_s16(sums));
    odd = vaddq_s32(odd, vmovltq_s16(sums));
  }
};

/// Adds up the columns of `count` rows of `size` bytes each, beginning with `start`, and stores what result() makes of
/// the sums of eight columns.
template <typename Result>
inline void sum_of_byte_rows(std::int32_t start, const std::int8_t* input, std::int32_t count,
                             std::int32_t size, std::int8_t* output, Result result) {
  const int32x4_t starts = vdupq_n_s32(start);
  std::int32_t column = 0;
  for (; column + 16 <= size; column += 16) {
    EightTotals first = {starts, starts};
    EightTotals second = {starts, starts};
    const std::int8_t* row = input + column;
    for (std::int32_t left = count; left > 0; left -= kMostByteRows) {
      int16x8_t low = vdupq_n_s16(0);
      int16x8_t high = low;
      for (std::int32_t rows = left < kMostByteRows ? left : kMostByteRows; rows > 0; --rows) {
        low = vaddq_s16(low, vldrbq_s16(row));
        high = vaddq_s16(high, vldrbq_s16(row + 8));
        row += size;
      }
      first.add(low);
      second.add(high);
    }
    vstrbq_s16(output + column, result(first));
    vstrbq_s16(output + column + 8, result(second));
  }
  for (; column < size; column += 8) {
    const mve_pred16_t lanes = vctp16q(static_cast<std::uint32_t>(size - column));
    EightTotals totals = {starts, starts};
    const std::int8_t* row = input + column;
    for (std::int32_t left = count; left > 0; left -= kMostByteRows) {
      int16x8_t sums = vdupq_n_s16(0);
      for (std::int32_t rows = left < kMostByteRows ? left : kMostByteRows; rows > 0; --rows) {
        sums = vaddq_s16(sums, vldrbq_z_s16(row, lanes));
        row += size;
      }
      totals.add(sums);
    }
    vstrbq_p_s16(output + column, result(totals), lanes);
  }
}
#endif

}  // namespace cmsis_nn_delegate::portable
