// A small deterministic random number generator: it gives the same numbers on the host and on a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace cmsis_nn_delegate::fuzz {

class Random {
 public:
  explicit Random(std::uint32_t seed) : state_(seed * 2654435769u + 0x9E3779B9u) {
    if (state_ == 0) {
      state_ = 1;
    }
    for (int i = 0; i < 4; ++i) {
      next();  // separates neighbouring seeds
    }
  }

  std::uint32_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 17;
    state_ ^= state_ << 5;
    return state_ * 0x9E3779B1u;
  }

  /// In [0, count); count > 0.
  std::uint32_t below(std::uint32_t count) {
    return static_cast<std::uint32_t>((static_cast<std::uint64_t>(next()) * count) >> 32);
  }

  /// In [low, high].
  std::int32_t in(std::int32_t low, std::int32_t high) {
    return low + static_cast<std::int32_t>(below(static_cast<std::uint32_t>(high - low) + 1));
  }

  bool one_in(std::uint32_t count) { return below(count) == 0; }

  /// Random bytes, written as words: byte by byte, this would take most of a short run.
  void fill(std::uint8_t* data, std::size_t bytes) {
    for (; bytes >= sizeof(std::uint32_t); bytes -= sizeof(std::uint32_t)) {
      const std::uint32_t word = next();
      std::memcpy(data, &word, sizeof(word));
      data += sizeof(word);
    }
    const std::uint32_t word = next();
    std::memcpy(data, &word, bytes);
  }

  template <typename T, std::size_t kCount>
  T pick(const T (&values)[kCount]) {
    return values[below(kCount)];
  }

 private:
  std::uint32_t state_;
};

}  // namespace cmsis_nn_delegate::fuzz
