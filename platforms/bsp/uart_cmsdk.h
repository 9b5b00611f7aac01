// Driver of the CMSDK APB UART on Arm's boards; only uart.c and serial.c include this file.
#pragma once

#include <stdint.h>

#define UART_REGISTER(offset) (*(volatile uint32_t*)(BSP_UART_BASE + (offset)))
#define UART_DATA UART_REGISTER(0x00)
#define UART_STATE UART_REGISTER(0x04)
#define UART_CTRL UART_REGISTER(0x08)
#define UART_BAUDDIV UART_REGISTER(0x10)

#define STATE_TX_FULL (1u << 0)
#define STATE_RX_FULL (1u << 1)
#define CTRL_ENABLE 3u  // transmitter and receiver
#define BAUDDIV_MIN 16u

static inline void start(void) {
  if (UART_CTRL != CTRL_ENABLE) {
    UART_BAUDDIV = BAUDDIV_MIN;
    UART_CTRL = CTRL_ENABLE;
  }
}

static inline void put(char byte) {
  while ((UART_STATE & STATE_TX_FULL) != 0) {
  }
  UART_DATA = (uint8_t)byte;
}

#define BSP_UART_RECEIVES
static inline int get(void) {
  return (UART_STATE & STATE_RX_FULL) != 0 ? (int)(UART_DATA & 255) : -1;
}
