// Checks the multipliers and shifts that scale sums to outputs.
#pragma once

#include <cstdint>

#include "runtime/payload/bounds.h"

namespace cmsis_nn_delegate {

/// Whether `count` > 0 multipliers and shifts are in the ranges that the format states.
inline bool multipliers_valid(const std::int32_t* multipliers, const std::int32_t* shifts,
                              std::int32_t count) {
  // For a network of convolutions init() spends most of its time here, so this is one pass over both.
  std::uint32_t signs = 0;
  const std::int32_t* const end = multipliers + count;
  do {
    signs |= static_cast<std::uint32_t>(*multipliers++);
    if (!bounds::in_range(*shifts++, payload::kMinShift, payload::kMaxShift)) {
      return false;
    }
  } while (multipliers != end);
  return signs >> 31 == 0;
}

}  // namespace cmsis_nn_delegate
