// Driver of the CMSDK APB UART on Arm's boards; only uart.c includes this file.
#pragma once

#include <stdint.h>

#define UART_REGISTER(offset) (*(volatile uint32_t*)(BSP_UART_BASE + (offset)))
#define UART_DATA UART_REGISTER(0x00)
#define UART_STATE UART_REGISTER(0x04)
#define UART_CTRL UART_REGISTER(0x08)
#define UART_BAUDDIV UART_REGISTER(0x10)

#define STATE_TX_FULL (1u << 0)
#define CTRL_TX_ENABLE (1u << 0)
#define BAUDDIV_MIN 16u

static void start(void) {
  if ((UART_CTRL & CTRL_TX_ENABLE) == 0) {
    UART_BAUDDIV = BAUDDIV_MIN;
    UART_CTRL = CTRL_TX_ENABLE;
  }
}

static void put(char byte) {
  while ((UART_STATE & STATE_TX_FULL) != 0) {
  }
  UART_DATA = (uint8_t)byte;
}
