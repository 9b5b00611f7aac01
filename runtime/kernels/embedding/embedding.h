// Rows of a table, chosen by indices that come from outside.
#pragma once

#include <cstddef>
#include <cstring>

#include "runtime/kernels/portable/portable.h"

namespace cmsis_nn_delegate::portable {

/// Returns InvalidArgument at the first index that is not in the table. The rows before it have been
/// copied by then; nothing outside of the table is read.
template <typename Index, typename Number = std::int8_t, typename Args>
Error copy_rows(const Args& a, const Bases& bases) {
  const auto* input = bases.resolve<const std::uint8_t>(a.input);
  const auto* table = bases.resolve<const Number>(a.filter);
  auto* output = bases.resolve<Number>(a.output);
  const auto depth = static_cast<std::size_t>(a.depth);

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
      std::memcpy(output, table + static_cast<std::size_t>(index) * depth, depth * sizeof(Number));
      output += depth;
      place += a.inner_step;
    }
  }
  return Error::Ok;
}

}  // namespace cmsis_nn_delegate::portable
