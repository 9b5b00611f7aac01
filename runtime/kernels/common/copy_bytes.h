// Copies of bytes, of which most are few: rows of a tensor.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cmsis_nn_delegate::portable {

/// Copies `count` bytes, which may lie anywhere but not overlap. Few are copied here, because a call of memcpy takes as
/// long as several words.
inline void copy_bytes(const void* from, void* to, std::int32_t count) {
  constexpr std::int32_t kFew = 32;
  if (count > kFew) {
    std::memcpy(to, from, static_cast<std::size_t>(count));
    return;
  }
  const auto* in = static_cast<const std::uint8_t*>(from);
  auto* out = static_cast<std::uint8_t*>(to);
  std::uint32_t word;
  constexpr auto kWord = static_cast<std::int32_t>(sizeof(word));
  for (; count >= kWord; count -= kWord) {
    std::memcpy(&word, in, sizeof(word));
    std::memcpy(out, &word, sizeof(word));
    in += kWord;
    out += kWord;
  }
  for (; count > 0; --count) {
    *out++ = *in++;
  }
}

}  // namespace cmsis_nn_delegate::portable
