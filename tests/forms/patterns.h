// Runs a network on patterns of bytes: firmware as small as it can be, so that an image shows what the network costs.
#pragma once

#include <cstddef>
#include <cstdint>

#include "platforms/bsp/bsp.h"
#include "platforms/bsp/mark.h"

namespace cmsis_nn_delegate::forms {

inline constexpr unsigned kPatterns = 2;

/// Prints two digits a byte and ends the line.
void print_hex(const void* data, std::size_t size);

/// Prints the bytes of stack in use so far, as four digits.
void print_stack();

/// Runs `infer()`, which returns whether it succeeded, on each pattern, and prints the outputs and the use of the stack.
/// Returns the exit code. Byte i of pattern k is (37 + 2 * k) * i mod 256, so that a host can compute the same. A
/// simulator counts the instructions of each inference.
template <typename Infer>
int run_patterns(void* input, std::size_t input_bytes, const void* output, std::size_t output_bytes,
                 const Infer& infer) {
  for (unsigned pattern = 0; pattern < kPatterns; ++pattern) {
    for (std::size_t i = 0; i < input_bytes; ++i) {
      static_cast<std::uint8_t*>(input)[i] = static_cast<std::uint8_t>((37 + 2 * pattern) * i);
    }
    MARK_BEGIN();
    const bool ran = infer();
    MARK_END();
    if (!ran) {
      return 2;
    }
    print_hex(output, output_bytes);
  }
  print_stack();
  return 0;
}

}  // namespace cmsis_nn_delegate::forms
