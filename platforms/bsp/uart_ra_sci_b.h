// Driver of the SCI of Renesas's RA8 ("SCI_B" in its software), without FIFOs; only uart.c and serial.c include this
// file. Start-up code gives it its clock, its pins and its speed. Registers: RA8M1 User's Manual: Hardware, "SCI".
#pragma once

#include <stdint.h>

#define SCI_REGISTER(offset) (*(volatile uint32_t*)(BSP_UART_BASE + (offset)))
#define SCI_RDR SCI_REGISTER(0x00)
#define SCI_TDR SCI_REGISTER(0x04)
#define SCI_CCR0 SCI_REGISTER(0x08)
#define SCI_CCR1 SCI_REGISTER(0x0c)
#define SCI_CCR3 SCI_REGISTER(0x14)
#define SCI_CSR SCI_REGISTER(0x48)
#define SCI_CFCLR SCI_REGISTER(0x68)  // clears the bits of CSR that are written as 1

#define CCR0_RE (1u << 0)  // receiver
#define CCR0_TE (1u << 4)  // transmitter
#define CCR1_TXD_HIGH \
  (3u << 4)  // SPB2IO and SPB2DT: the level of an idle line while the transmitter is off
#define CCR3_CHR_8 (2u << 8)      // 8 data bits; asynchronous, no FIFO
#define CCR3_LSBF (1u << 12)      // the lowest bit first
#define CSR_ERRORS (0x19u << 24)  // overrun, parity, framing
#define CSR_TDRE (1u << 29)       // TDR can take a byte.
#define CSR_TEND (1u << 30)       // All bytes are sent.
#define CSR_RDRF (1u << 31)       // RDR has a byte.

static inline void start(void) {
  if ((SCI_CCR0 & CCR0_TE) == 0) {
    SCI_CCR0 = 0;
    SCI_CCR3 = CCR3_CHR_8 | CCR3_LSBF;
    SCI_CCR1 = CCR1_TXD_HIGH;
    SCI_CFCLR = CSR_ERRORS;
    SCI_CCR0 = CCR0_TE | CCR0_RE;
  }
}

// Renode has only TEND, which says more.
static inline void put(char byte) {
  while ((SCI_CSR & (CSR_TDRE | CSR_TEND)) == 0) {
  }
  SCI_TDR = (uint8_t)byte;
}

// With an error it receives nothing more until that is cleared.
#define BSP_UART_RECEIVES
static inline int get(void) {
  const uint32_t status = SCI_CSR;
  if ((status & CSR_ERRORS) != 0) {
    SCI_CFCLR = CSR_ERRORS;
  }
  if ((status & CSR_RDRF) == 0) {
    return -1;
  }
  const uint32_t byte = SCI_RDR & 255;
  SCI_CFCLR = CSR_RDRF;
  return (int)byte;
}
