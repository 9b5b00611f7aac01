// Output on the board's CMSDK APB UART. BSP_UART_BASE comes from platforms/boards.bzl.
#include "platforms/bsp/bsp.h"
#include "platforms/bsp/internal.h"

#define UART_REGISTER(offset) (*(volatile uint32_t*)(BSP_UART_BASE + (offset)))
#define UART_DATA UART_REGISTER(0x00)
#define UART_STATE UART_REGISTER(0x04)
#define UART_CTRL UART_REGISTER(0x08)
#define UART_BAUDDIV UART_REGISTER(0x10)

#define STATE_TX_FULL (1u << 0)
#define CTRL_TX_ENABLE (1u << 0)
#define BAUDDIV_MIN 16u

static void put(char byte) {
  while ((UART_STATE & STATE_TX_FULL) != 0) {
  }
  UART_DATA = (uint8_t)byte;
}

void bsp_write(const char* data, size_t size) {
  // Here and not at start-up: a fault before .data is set up must still be reported.
  if ((UART_CTRL & CTRL_TX_ENABLE) == 0) {
    UART_BAUDDIV = BAUDDIV_MIN;
    UART_CTRL = CTRL_TX_ENABLE;
  }
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
