// Rows of a table, chosen by indices that come from outside.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/kernels/common/copy_bytes.h"
#include "runtime/kernels/common/nibbles.h"
#include "runtime/kernels/common/requantize.h"
#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// Calls `write(row, output)` for each index, whose row begins at `output` and has `a.depth` numbers. Returns
/// InvalidArgument at the first index that is not in the table; the rows before it have been written by then, and
/// nothing outside of the table is read.
template <typename Index, typename Number, typename Args, typename Write>
Error write_rows(const Args& a, const Bases& bases, Write write) {
  const auto* input = bases.resolve<const std::uint8_t>(a.input);
  auto* output = bases.resolve<Number>(a.output);

  for (std::int32_t outer = 0; outer < a.outer; ++outer) {
    std::int32_t place = a.first + outer * a.outer_step;
    for (std::int32_t inner = 0; inner < a.inner; ++inner) {
      Index index;  // it may lie anywhere
      std::memcpy(&index, input + static_cast<std::size_t>(place) * sizeof(index), sizeof(index));
      if (index < 0 && a.from_end != 0) {
        index += a.rows;
      }
      if (index < 0 || index >= a.rows) {
        return Error::InvalidArgument;
      }
      write(static_cast<std::size_t>(index), output);
      output += a.depth;
      place += a.inner_step;
    }
  }
  return Error::Ok;
}

/// Copies rows.
template <typename Index, typename Number = std::int8_t, typename Args>
Error copy_rows(const Args& a, const Bases& bases) {
  const auto* table = bases.resolve<const Number>(a.filter);
  const std::int32_t depth = a.depth;
  return write_rows<Index, Number>(a, bases, [&](std::size_t row, Number* output) {
    copy_bytes(table + row * static_cast<std::size_t>(depth), output,
               depth * static_cast<std::int32_t>(sizeof(Number)));
  });
}

/// Unpacks rows of 4 bits, and requantizes them to int8. No product exceeds 19 bits.
template <typename Index, typename Args>
Error requantize_rows(const Args& a, const Bases& bases) {
  const auto* table = bases.resolve<const std::int8_t>(a.filter);
  const auto* scales = bases.resolve<const std::int16_t>(a.scales);
  return write_rows<Index, std::int8_t>(a, bases, [&](std::size_t row, std::int8_t* output) {
    // In registers: to the compiler, what is written may be any of these.
    const std::int32_t scale = scales[row];
    const std::int32_t shift = a.shift;
    const std::int32_t half = (std::int32_t{1} << shift) >> 1;
    const std::int32_t offset = a.output_offset;
    const auto write = [&](std::int32_t number) {
      constexpr payload::Activation kInt8 = {INT8_MIN, INT8_MAX};
      *output++ = clamp(((number * scale + half) >> shift) + offset, kInt8);
    };
    const std::size_t first = row * static_cast<std::size_t>(a.depth);
    const std::int8_t* packed = table + first / 2;
    std::int32_t rest = a.depth;
    if (first % 2 != 0 && rest > 0) {
      write(*packed++ >> 4);
      --rest;
    }
    for (; rest >= 2; rest -= 2) {
      const std::int8_t both = *packed++;
      write(nibble(&both, 0));
      write(both >> 4);
    }
    if (rest > 0) {
      write(nibble(packed, 0));
    }
  });
}

}  // namespace cmsis_nn_delegate::portable
