// Driver of the USART of ST's STM32F1, F2, F4 and L1, whose status register is called SR; only uart.c includes this file.
// Start-up code gives it its clock, its pin and its speed. Registers: RM0090 section 30.6.
#pragma once

#include <stdint.h>

#define USART_REGISTER(offset) (*(volatile uint32_t*)(BSP_UART_BASE + (offset)))
#define USART_SR USART_REGISTER(0x00)
#define USART_DR USART_REGISTER(0x04)
#define USART_CR1 USART_REGISTER(0x0c)

#define SR_TXE (1u << 7)   // DR can take a byte.
#define CR1_TE (1u << 3)   // transmitter
#define CR1_UE (1u << 13)  // USART

static void start(void) {
  if ((USART_CR1 & CR1_TE) == 0) {
    USART_CR1 = CR1_UE | CR1_TE;  // 8 data bits, no parity
  }
}

static void put(char byte) {
  while ((USART_SR & SR_TXE) == 0) {
  }
  USART_DR = (uint8_t)byte;
}
