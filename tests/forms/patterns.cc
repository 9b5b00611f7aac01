#include "tests/forms/patterns.h"

namespace cmsis_nn_delegate::forms {

void print_hex(const void* data, std::size_t size) {
  constexpr char kDigits[] = "0123456789abcdef";
  for (std::size_t i = 0; i < size; ++i) {
    const std::uint8_t byte = static_cast<const std::uint8_t*>(data)[i];
    const char digits[] = {kDigits[byte >> 4], kDigits[byte & 15]};
    bsp_write(digits, sizeof(digits));
  }
  bsp_write("\n", 1);
}

void print_stack() {
  const std::size_t stack = bsp_stack_high_water();
  const std::uint8_t bytes[] = {static_cast<std::uint8_t>(stack >> 8),
                                static_cast<std::uint8_t>(stack)};
  print_hex(bytes, sizeof(bytes));
}

}  // namespace cmsis_nn_delegate::forms
