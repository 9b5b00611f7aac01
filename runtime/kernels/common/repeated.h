// Limits of results in words, for several elements at a time.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

namespace cmsis_nn_delegate::portable {

/// The lower bits of a number, as many as an Element of 8 or 16 bits has, as many times as they fit into a word.
template <typename Element>
constexpr std::uint32_t repeated(std::int32_t number) {
  constexpr std::uint32_t kMask = std::numeric_limits<std::make_unsigned_t<Element>>::max();
  return (static_cast<std::uint32_t>(number) & kMask) * (0xFFFFFFFF / kMask);
}

/// Whether results have other limits than those of Elements, as 0 or 1.
template <typename Element, typename Activation>
constexpr std::int32_t is_limited(const Activation& limits) {
  using Limits = std::numeric_limits<Element>;
  return limits.min != Limits::min() || limits.max != Limits::max() ? 1 : 0;
}

}  // namespace cmsis_nn_delegate::portable
