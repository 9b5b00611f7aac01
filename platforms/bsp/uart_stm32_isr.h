// Driver of the USART and LPUART of ST's STM32F0, F3, F7, G, H, L4, L5 and U5, whose status register is called ISR; only
// uart.c and serial.c include this file. Start-up code gives it its clock, its pins and its speed. Registers: RM0432, "USART".
#pragma once

#include <stdint.h>

#define USART_REGISTER(offset) (*(volatile uint32_t*)(BSP_UART_BASE + (offset)))
#define USART_CR1 USART_REGISTER(0x00)
#define USART_ISR USART_REGISTER(0x1c)
#define USART_ICR USART_REGISTER(0x20)
#define USART_RDR USART_REGISTER(0x24)
#define USART_TDR USART_REGISTER(0x28)

#define CR1_UE (1u << 0)    // USART
#define CR1_RE (1u << 2)    // receiver
#define CR1_TE (1u << 3)    // transmitter
#define ISR_RXNE (1u << 5)  // RDR has a byte.
#define ISR_TXE (1u << 7)   // TDR can take a byte.
#define ERRORS (7u << 1)    // framing, noise, overrun: in ISR, and in ICR to clear them

static inline void start(void) {
  if ((USART_CR1 & CR1_TE) == 0) {
    USART_CR1 = CR1_UE | CR1_TE | CR1_RE;  // 8 data bits, no parity
  }
}

static inline void put(char byte) {
  while ((USART_ISR & ISR_TXE) == 0) {
  }
  USART_TDR = (uint8_t)byte;
}

// With an overrun it receives nothing more until that is cleared.
#define BSP_UART_RECEIVES
static inline int get(void) {
  const uint32_t status = USART_ISR;
  if ((status & ERRORS) != 0) {
    USART_ICR = ERRORS;
  }
  return (status & ISR_RXNE) != 0 ? (int)(USART_RDR & 255) : -1;
}
