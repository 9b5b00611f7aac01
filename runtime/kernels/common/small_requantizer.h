// The requantization of small numbers on cores with the DSP extension.
#pragma once

#include "runtime/kernels/common/words.h"

#if CMSIS_NN_DELEGATE_WORDS

#include <cstdint>

namespace cmsis_nn_delegate::portable {

/// requantize() of values v for which |v| * 2^max(shift, 0) < 2^30, with what does not depend on the value.
class SmallRequantizer {
 public:
  /// The largest shift of values of at most 2^16.
  static constexpr std::int32_t kMostLeft = 13;

  /// `shift` is at most 29.
  SmallRequantizer(std::int32_t multiplier, std::int32_t shift)
      : multiplier_(multiplier),
        left_(std::int32_t{2} << (shift > 0 ? shift : 0)),
        right_(shift < 0 ? -shift : 0),
        half_(shift < 0 ? std::int32_t{1} << (right_ - 1) : 0),
        down_(shift < 0 ? -1 : 0) {}

  std::int32_t operator()(std::int32_t value) const {
    // Half of twice the product, halves up, which is less than 2^30. The shift, too, rounds halves up: one less makes
    // that "away from zero" for negative numbers.
    const std::int32_t high = rounded_upper_half(value * left_, multiplier_);
    return (high + (high >> 31 & down_) + half_) >> right_;
  }

 private:
  std::int32_t multiplier_;
  std::int32_t left_;
  std::int32_t right_;
  std::int32_t half_;
  std::int32_t down_;
};

}  // namespace cmsis_nn_delegate::portable

#endif
