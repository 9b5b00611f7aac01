// Driver of the USART of ST's STM32F1, F2, F4 and L1, whose status register is called SR; only uart.c and
// serial.c include this file. Start-up code gives it its clock, its pins and its speed. Registers: RM0090 section 30.6.
#pragma once

#include <stdint.h>

#define USART_REGISTER(offset) (*(volatile uint32_t*)(BSP_UART_BASE + (offset)))
#define USART_SR USART_REGISTER(0x00)
#define USART_DR USART_REGISTER(0x04)
#define USART_CR1 USART_REGISTER(0x0c)

#define SR_ORE (1u << 3)   // Overrun: a byte is lost.
#define SR_RXNE (1u << 5)  // DR has a byte.
#define SR_TXE (1u << 7)   // DR can take a byte.
#define CR1_RE (1u << 2)   // receiver
#define CR1_TE (1u << 3)   // transmitter
#define CR1_UE (1u << 13)  // USART

static inline void start(void) {
  if ((USART_CR1 & CR1_TE) == 0) {
    USART_CR1 = CR1_UE | CR1_TE | CR1_RE;  // 8 data bits, no parity
  }
}

static inline void put(char byte) {
  while ((USART_SR & SR_TXE) == 0) {
  }
  USART_DR = (uint8_t)byte;
}

// Reading SR and then DR clears the errors, too.
#define BSP_UART_RECEIVES
static inline int get(void) {
  const uint32_t status = USART_SR;
  if ((status & (SR_RXNE | SR_ORE)) == 0) {
    return -1;
  }
  const uint32_t byte = USART_DR & 255;
  return (status & SR_RXNE) != 0 ? (int)byte : -1;
}
