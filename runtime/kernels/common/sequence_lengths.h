// How many steps each sequence of a batch has, for calls that are given that. Lengths come from outside.
#pragma once

#include <cstdint>
#include <cstring>
#include <type_traits>

#include "runtime/payload/bases.h"
#include "runtime/payload/format.h"

namespace cmsis_nn_delegate::portable {

template <typename Args, typename = void>
inline constexpr bool kHasLengths = false;
/// Whether calls with this argument block have lengths.
template <typename Args>
inline constexpr bool kHasLengths<Args, std::void_t<decltype(Args::length_bytes)>> = true;

/// Returns the length of sequence number `batch`; 0 if it is not in [1, steps].
template <typename Args>
std::int32_t length_of(const Args& args, const Bases& bases, std::int32_t batch) {
  const auto* lengths = bases.resolve<const std::uint8_t>(args.lengths);
  const std::int32_t bytes = args.length_bytes / args.batch;  // 4 or 8
  std::uint32_t words[2] = {0, 0};  // little-endian; the lengths may lie anywhere
  std::memcpy(words, lengths + batch * bytes, static_cast<std::size_t>(bytes));
  return words[1] == 0 && words[0] - 1 < static_cast<std::uint32_t>(args.steps)
             ? static_cast<std::int32_t>(words[0])
             : 0;
}

}  // namespace cmsis_nn_delegate::portable
