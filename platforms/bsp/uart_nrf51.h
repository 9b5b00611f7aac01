// Driver of the UART of Nordic's nRF51, without flow control; only uart.c and serial.c include this file. It selects no
// pins: the simulated UART has none.
#pragma once

#include <stdint.h>

#define UART_REGISTER(offset) (*(volatile uint32_t*)(BSP_UART_BASE + (offset)))
#define UART_STARTRX UART_REGISTER(0x000)
#define UART_STARTTX UART_REGISTER(0x008)
#define UART_RXDRDY UART_REGISTER(0x108)
#define UART_TXDRDY UART_REGISTER(0x11c)
#define UART_ENABLE UART_REGISTER(0x500)
#define UART_RXD UART_REGISTER(0x518)
#define UART_TXD UART_REGISTER(0x51c)

#define ENABLE_ENABLED 4u

static inline void start(void) {
  if (UART_ENABLE != ENABLE_ENABLED) {
    UART_ENABLE = ENABLE_ENABLED;
    UART_STARTRX = 1;
    UART_STARTTX = 1;
  }
}

// TXDRDY is the event that the byte in TXD has been sent; software clears it.
static inline void put(char byte) {
  UART_TXDRDY = 0;
  UART_TXD = (uint8_t)byte;
  while (UART_TXDRDY == 0) {
  }
}

// RXDRDY is the event that a byte has come into RXD; software clears it before it reads the byte, because the next one may
// follow at once.
static inline int get(void) {
  if (UART_RXDRDY == 0) {
    return -1;
  }
  UART_RXDRDY = 0;
  return (int)(UART_RXD & 255);
}
