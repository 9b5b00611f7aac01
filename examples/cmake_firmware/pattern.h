// The input and the output of the example.
#pragma once

#include <cstddef>
#include <cstdint>

#include "platforms/bsp/bsp.h"

/// Writes 37 * i mod 256 to byte i, so that a host can compute the same.
inline void fill(std::uint8_t* data, std::size_t size) {
  for (std::size_t i = 0; i < size; ++i) {
    data[i] = static_cast<std::uint8_t>(37 * i);
  }
}

/// Prints `size` bytes in hex digits.
inline void print_hex(const std::uint8_t* data, std::size_t size) {
  constexpr char kDigits[] = "0123456789abcdef";
  for (std::size_t i = 0; i < size; ++i) {
    const char byte[] = {kDigits[data[i] >> 4], kDigits[data[i] & 15]};
    bsp_write(byte, sizeof(byte));
  }
  bsp_write("\n", 1);
}
