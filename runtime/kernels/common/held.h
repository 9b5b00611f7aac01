// How states lie in persistent memory: as the exclusive or with their initial bytes, because that memory starts as zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/payload/bases.h"
#include "runtime/payload/format.h"

namespace cmsis_nn_delegate {
namespace portable {

/// The exclusive or of whole words of `bytes` bytes, which are multiples of kAlignment in memory; returns how many bytes
/// that are. `step`: 4, or 0 if one word of `initial` is that of all.
template <std::size_t kAlignment>
std::int32_t copy_held_words(const std::uint8_t* from, const std::uint8_t* initial,
                             std::int32_t step, std::uint8_t* to, std::int32_t bytes) {
  std::int32_t i = 0;
  for (; i + 4 <= bytes; i += 4, initial += step) {
    std::uint32_t word;
    std::uint32_t other;
    std::memcpy(&word, __builtin_assume_aligned(from + i, kAlignment), sizeof(word));
    std::memcpy(&other, __builtin_assume_aligned(initial, kAlignment), sizeof(other));
    word ^= other;
    std::memcpy(__builtin_assume_aligned(to + i, kAlignment), &word, sizeof(word));
  }
  return i;
}

/// to[i] = from[i] ^ initial[i] for `nbytes` bytes; initial bytes of one element are those of all. The operands are apart.
template <typename Args>
void copy_held(const Args& a, const Bases& bases, payload::Ref from, payload::Ref to) {
  const auto* source = bases.resolve<const std::uint8_t>(from);
  auto* target = bases.resolve<std::uint8_t>(to);
  const auto* initial = bases.resolve<const std::uint8_t>(a.initial);
  alignas(4) std::uint8_t pattern[4];
  std::int32_t step = 4;  // from the initial bytes of a word to those of the next one
  if (a.initial_bytes < a.nbytes) {
    for (std::int32_t i = 0; i < 4; ++i) {
      pattern[i] = initial[i & (a.initial_bytes - 1)];
    }
    initial = pattern;
    step = 0;
  }
#if defined(__arm__) && !defined(__ARM_FEATURE_UNALIGNED)
  // These cores load words that are not aligned byte by byte.
  const auto address = [](const std::uint8_t* p) { return reinterpret_cast<std::uintptr_t>(p); };
  const bool aligned = (address(source) | address(target) | address(initial)) % 4 == 0;
  const auto copy_words = aligned ? copy_held_words<4> : copy_held_words<1>;
#else
  const auto copy_words = copy_held_words<1>;
#endif
  std::int32_t i = copy_words(source, initial, step, target, a.nbytes);
  initial += step == 0 ? 0 : i;
  for (; i < a.nbytes; ++i) {
    target[i] = source[i] ^ *initial++;
  }
}

}  // namespace portable
}  // namespace cmsis_nn_delegate
