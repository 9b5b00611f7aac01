// How states lie in persistent memory: as the exclusive or with their initial bytes, because that memory starts as zeros.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cmsis_nn_delegate::portable {

/// The initial bytes of a state of `nbytes`: `count` are given, all of them or those of one element.
class InitialBytes {
 public:
  InitialBytes(const std::uint8_t* given, std::int32_t count, std::int32_t nbytes)
      : given_(given), step_(count < nbytes ? 0 : 4) {
    for (std::int32_t i = 0; step_ == 0 && i < 4; ++i) {
      pattern_[i] = given[i & (count - 1)];
    }
  }

  /// Those of the bytes from `offset` on, which begin with an element.
  const std::uint8_t* from(std::int32_t offset) const {
    return step_ == 0 ? pattern_ : given_ + offset;
  }

  /// From the initial bytes of a word to those of the next one: 0 if one word of them is that of all.
  std::int32_t step() const { return step_; }

 private:
  const std::uint8_t* given_;
  std::int32_t step_;
  alignas(4) std::uint8_t pattern_[4];
};

/// The exclusive or of whole words of `bytes` bytes, which are multiples of kAlignment in memory; returns how many bytes
/// that are. `step`: as of InitialBytes.
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

/// target[i] = source[i] ^ initial byte `offset` + i for `nbytes` bytes. Source and target are apart.
inline void copy_held(const std::uint8_t* source, const InitialBytes& bytes, std::int32_t offset,
                      std::uint8_t* target, std::int32_t nbytes) {
  const std::uint8_t* initial = bytes.from(offset);
#if defined(__arm__) && !defined(__ARM_FEATURE_UNALIGNED)
  // These cores load words that are not aligned byte by byte.
  const auto address = [](const std::uint8_t* p) { return reinterpret_cast<std::uintptr_t>(p); };
  const bool aligned = (address(source) | address(target) | address(initial)) % 4 == 0;
  const auto copy_words = aligned ? copy_held_words<4> : copy_held_words<1>;
#else
  const auto copy_words = copy_held_words<1>;
#endif
  std::int32_t i = copy_words(source, initial, bytes.step(), target, nbytes);
  initial += bytes.step() == 0 ? 0 : i;
  for (; i < nbytes; ++i) {
    target[i] = source[i] ^ *initial++;
  }
}

}  // namespace cmsis_nn_delegate::portable
