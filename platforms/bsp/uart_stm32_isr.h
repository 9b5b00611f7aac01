// Driver of the USART and LPUART of ST's STM32F0, F3, F7, G, H, L4, L5 and U5, whose status register is called ISR; only
// uart.c includes this file. Start-up code gives it its clock, its pin and its speed. Registers: RM0432, "USART".
#pragma once

#include <stdint.h>

#define USART_REGISTER(offset) (*(volatile uint32_t*)(BSP_UART_BASE + (offset)))
#define USART_CR1 USART_REGISTER(0x00)
#define USART_ISR USART_REGISTER(0x1c)
#define USART_TDR USART_REGISTER(0x28)

#define CR1_UE (1u << 0)   // USART
#define CR1_TE (1u << 3)   // transmitter
#define ISR_TXE (1u << 7)  // TDR can take a byte.

static void start(void) {
  if ((USART_CR1 & CR1_TE) == 0) {
    USART_CR1 = CR1_UE | CR1_TE;  // 8 data bits, no parity
  }
}

static void put(char byte) {
  while ((USART_ISR & ISR_TXE) == 0) {
  }
  USART_TDR = (uint8_t)byte;
}
