// Driver of the UART of NXP's Kinetis K, whose registers are bytes; only uart.c and serial.c include this file.
// Start-up code gives it its clock, its pins and its speed. Registers: K64 Sub-Family Reference Manual, "UART".
#pragma once

#include <stdint.h>

#define UART_REGISTER(offset) (*(volatile uint8_t*)(BSP_UART_BASE + (offset)))
#define UART_C2 UART_REGISTER(0x03)
#define UART_S1 UART_REGISTER(0x04)
#define UART_D UART_REGISTER(0x07)
#define UART_PFIFO UART_REGISTER(0x10)
#define UART_CFIFO UART_REGISTER(0x11)
#define UART_RCFIFO UART_REGISTER(0x16)  // How many bytes the receiver's FIFO has.

#define C2_RE (1u << 2)       // receiver
#define C2_TE (1u << 3)       // transmitter
#define S1_TDRE (1u << 7)     // D can take a byte.
#define PFIFO_RXFE (1u << 3)  // The receiver keeps more than one byte, 8 on UART0 and UART1.
#define CFIFO_RXFLUSH (1u << 6)

// The FIFO may be switched on while the receiver is off, and has to be flushed then.
static inline void start(void) {
  if ((UART_C2 & C2_TE) == 0) {
    UART_PFIFO = (uint8_t)(UART_PFIFO | PFIFO_RXFE);
    UART_CFIFO = CFIFO_RXFLUSH;
    UART_C2 = C2_TE | C2_RE;
  }
}

static inline void put(char byte) {
  while ((UART_S1 & S1_TDRE) == 0) {
  }
  UART_D = (uint8_t)byte;
}

// D must not be read while there is no byte. Reading S1 and then D clears the errors, too.
#define BSP_UART_RECEIVES
static inline int get(void) {
  (void)UART_S1;
  return UART_RCFIFO != 0 ? (int)UART_D : -1;
}
