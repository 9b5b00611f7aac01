// Driver of UARTs with the registers of National's NS16550, each in a word: Synopsys's DW_apb_uart and others; only
// uart.c and serial.c include this file. Start-up code gives it its clock, its pins and its speed, and leaves LCR 0.
#pragma once

#include <stdint.h>

#define UART_REGISTER(offset) (*(volatile uint32_t*)(BSP_UART_BASE + (offset)))
#define UART_RBR UART_REGISTER(0x00)  // received byte
#define UART_THR UART_REGISTER(0x00)  // byte to be sent
#define UART_FCR UART_REGISTER(0x08)
#define UART_LCR UART_REGISTER(0x0c)
#define UART_LSR UART_REGISTER(0x14)

#define FCR_ENABLE_AND_RESET 7u  // both FIFOs
#define LCR_8_BITS 3u            // one stop bit, no parity
#define LSR_DATA_READY (1u << 0)
#define LSR_THR_EMPTY (1u << 5)

static inline void start(void) {
  if ((UART_LCR & LCR_8_BITS) == 0) {
    UART_LCR = LCR_8_BITS;
    UART_FCR = FCR_ENABLE_AND_RESET;
  }
}

static inline void put(char byte) {
  while ((UART_LSR & LSR_THR_EMPTY) == 0) {
  }
  UART_THR = (uint8_t)byte;
}

// Reading LSR clears the errors, and after an overrun the UART goes on.
#define BSP_UART_RECEIVES
static inline int get(void) {
  return (UART_LSR & LSR_DATA_READY) != 0 ? (int)(UART_RBR & 255) : -1;
}
