// Driver of Arm's UART PL011; only uart.c and serial.c include this file. Start-up code gives it its clock, its pins
// and its speed, which it takes over when UARTLCR_H is written. Registers: Arm's PrimeCell UART (PL011) Technical
// Reference Manual, section 3.3.
#pragma once

#include <stdint.h>

#define UART_REGISTER(offset) (*(volatile uint32_t*)(BSP_UART_BASE + (offset)))
#define UARTDR UART_REGISTER(0x00)
#define UARTFR UART_REGISTER(0x18)
#define UARTLCR_H UART_REGISTER(0x2c)
#define UARTCR UART_REGISTER(0x30)

#define FR_RXFE (1u << 4)       // There is no byte in the receiver's FIFO.
#define FR_TXFF (1u << 5)       // The transmitter's FIFO is full.
#define LCR_H_FEN (1u << 4)     // FIFOs
#define LCR_H_WLEN_8 (3u << 5)  // 8 data bits; no parity
#define CR_UARTEN (1u << 0)     // UART
#define CR_TXE (1u << 8)        // transmitter
#define CR_RXE (1u << 9)        // receiver

static inline void start(void) {
  if ((UARTCR & CR_UARTEN) == 0) {
    UARTLCR_H = LCR_H_WLEN_8 | LCR_H_FEN;
    UARTCR = CR_UARTEN | CR_TXE | CR_RXE;
  }
}

static inline void put(char byte) {
  while ((UARTFR & FR_TXFF) != 0) {
  }
  UARTDR = (uint8_t)byte;
}

// Errors are those of a byte, beside it in the FIFO: they go when it is read, and after an overrun the UART goes on.
#define BSP_UART_RECEIVES
static inline int get(void) { return (UARTFR & FR_RXFE) == 0 ? (int)(UARTDR & 255) : -1; }
