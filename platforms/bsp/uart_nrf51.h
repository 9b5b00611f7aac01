// Driver of the UART without DMA of Nordic's nRF51 and nRF52, without flow control; only uart.c and serial.c include this
// file. It selects no pins and no speed: the simulated UART has neither, and start-up code of a board does it.
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
  UART_ENABLE = ENABLE_ENABLED;
  UART_STARTRX = 1;
  UART_STARTTX = 1;
}

// TXDRDY is the event that the byte in TXD has been sent; software clears it.
static inline void put(char byte) {
  UART_TXDRDY = 0;
  UART_TXD = (uint8_t)byte;
  while (UART_TXDRDY == 0) {
  }
}

// RXDRDY is the event that a byte has come into RXD; software clears it before it reads the byte, because the next one may
// follow at once. After an overrun, which loses a byte, the UART goes on.
#define BSP_UART_RECEIVES
static inline int get(void) {
  if (UART_RXDRDY == 0) {
    return -1;
  }
  UART_RXDRDY = 0;
  return (int)(UART_RXD & 255);
}
