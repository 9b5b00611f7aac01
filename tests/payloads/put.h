// Writes parameters and sizes into argument blocks, for tests and fuzzers: blocks have 16 or 32 bits for a number.
#pragma once

#include <cstdint>

#include "runtime/payload/format.h"

namespace cmsis_nn_delegate::payload {

/// Writes `from`, whose numbers must fit.
constexpr void put(Tile& to, const Tile& from) { to = from; }
constexpr void put(Dims& to, const Dims& from) { to = from; }
constexpr void put(Activation& to, const Activation& from) { to = from; }
constexpr void put(PackedTile& to, const Tile& from) {
  to = {static_cast<std::uint16_t>(from.w), static_cast<std::uint16_t>(from.h)};
}
constexpr void put(PackedDims& to, const Dims& from) {
  to = {static_cast<std::uint16_t>(from.n), static_cast<std::uint16_t>(from.h),
        static_cast<std::uint16_t>(from.w), static_cast<std::uint16_t>(from.c)};
}
constexpr void put(PackedActivation& to, const Activation& from) {
  to = {static_cast<std::int16_t>(from.min), static_cast<std::int16_t>(from.max)};
}
/// The same for a single number.
template <typename Number>
constexpr void put(Number& to, std::int32_t from) {
  to = static_cast<Number>(from);
}

}  // namespace cmsis_nn_delegate::payload
