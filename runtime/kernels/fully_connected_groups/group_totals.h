// The sums over the groups of a linear layer, in 64 bits.
#pragma once

#include <cstdint>

namespace cmsis_nn_delegate::portable::group_totals {

/// What a sum over groups starts with, so that it is rounded when it loses `narrowing` bits, 0 to 31.
inline std::int64_t start(std::int32_t narrowing) {
  return static_cast<std::int64_t>((std::uint64_t{1} << narrowing) >> 1);
}

/// total + factor * sum, which wraps at 64 bits.
inline std::int64_t add(std::int64_t total, std::int16_t factor, std::int32_t sum) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(total) +
                                   static_cast<std::uint64_t>(std::int64_t{factor} * sum));
}

/// The lowest 32 bits of total / 2^narrowing: in fewer instructions than a shift of 64 bits by any amount.
inline std::int32_t narrowed(std::int64_t total, std::int32_t narrowing) {
  const auto bits = static_cast<std::uint64_t>(total);
  const auto low = static_cast<std::uint32_t>(bits);
  const auto high = static_cast<std::uint32_t>(bits >> 32);
  return static_cast<std::int32_t>(low >> narrowing | high << (31 - narrowing) << 1);
}

}  // namespace cmsis_nn_delegate::portable::group_totals
