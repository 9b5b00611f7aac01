// Means by a multiplication.
#pragma once

#include <cstdint>

namespace cmsis_nn_delegate::portable {

/// Returns the factor with which the sum of `count` int8, 1 <= count <= 256, becomes their mean, halves away from zero:
///
///     mean = (((sum * reciprocal) >> 16) + 128) >> 8
///
/// Proof. This is (sum * reciprocal + 2^23) >> 24, because a shift leaves out nothing that the next one would not, so
/// that halves go up. |sum| is at most 128 * count.
///
/// A quotient of an odd count is at least 1 / (2 * count) away from a half. The reciprocal is less than 1 below 2^24
/// / count, which changes the quotient by less than count * 2^-17, and so by less than that distance: odd counts are
/// less than 2^8.
///
/// A quotient of an even count is a half, or at least 1 / count away from one. The reciprocal is above 2^24 / count,
/// by at most 1, so that the quotient moves away from zero, also if it is a negative half, by at most count * 2^-17.
/// That is less than 1 / count, because the count is at most 2^8.
///
/// The mean fits into 8 bits, so that bits 8 to 15 of the number before the last shift are it; nothing above them
/// matters.
constexpr std::int32_t reciprocal_of(std::int32_t count) {
  return (1 << 24) / count + (count % 2 == 0 ? 1 : 0);
}

}  // namespace cmsis_nn_delegate::portable
