// Output on the board's UART. BSP_UART_BASE and the driver included here come from the board's description. A driver
// defines `start`, which may be called more than once, and `put`, which returns once the UART has accepted the byte.
#include "platforms/bsp/bsp.h"
#include "platforms/bsp/internal.h"

#include BSP_UART_HEADER

// Weak, as bsp_exit() is: see bsp.h.
__attribute__((weak)) void bsp_write(const char* data, size_t size) {
  // Here and not at start-up: a fault before .data is set up must still be reported.
  start();
  for (size_t i = 0; i < size; ++i) {
    put(data[i]);
  }
}

void bsp_write_string(const char* text) {
  size_t size = 0;
  while (text[size] != '\0') {
    ++size;
  }
  bsp_write(text, size);
}

void bsp_write_decimal(uint32_t value) {
  char digits[10];
  size_t first = sizeof(digits);
  do {
    digits[--first] = (char)('0' + value % 10);
    value /= 10;
  } while (value != 0);
  bsp_write(digits + first, sizeof(digits) - first);
}

void bsp_write_hex(uint32_t value) {
  for (int shift = 28; shift >= 0; shift -= 4) {
    bsp_write(&"0123456789abcdef"[(value >> shift) & 15], 1);
  }
}
