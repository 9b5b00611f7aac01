// Where the rows and columns of a resampled image lie in the original.
#pragma once

#include <cstdint>

#include "runtime/payload/format.h"

namespace cmsis_nn_delegate::portable {

/// The place of output index `index` in an input of `size`, with `kBits` after the point: 0 to size - 1.
template <int kBits>
inline std::int32_t place_of(std::int32_t index, const payload::ResizeAxis& axis,
                             std::int32_t size) {
  constexpr int kFractionBits = 24;
  const std::int64_t place =
      (static_cast<std::int64_t>(index) * axis.step + axis.offset) >> (kFractionBits - kBits);
  const std::int64_t last = static_cast<std::int64_t>(size - 1) << kBits;
  return static_cast<std::int32_t>(place < 0 ? 0 : (place > last ? last : place));
}

}  // namespace cmsis_nn_delegate::portable
