// Driver of the UART without DMA of Nordic's nRF51 and nRF52, without flow control; only uart.c includes this file. It selects no pin
// and no speed: the simulated UART has neither, and start-up code of a board does it.
#pragma once

#include <stdint.h>

#define UART_REGISTER(offset) (*(volatile uint32_t*)(BSP_UART_BASE + (offset)))
#define UART_STARTTX UART_REGISTER(0x008)
#define UART_TXDRDY UART_REGISTER(0x11c)
#define UART_ENABLE UART_REGISTER(0x500)
#define UART_TXD UART_REGISTER(0x51c)

#define ENABLE_ENABLED 4u

static void start(void) {
  UART_ENABLE = ENABLE_ENABLED;
  UART_STARTTX = 1;
}

// TXDRDY is the event that the byte in TXD has been sent; software clears it.
static void put(char byte) {
  UART_TXDRDY = 0;
  UART_TXD = (uint8_t)byte;
  while (UART_TXDRDY == 0) {
  }
}
