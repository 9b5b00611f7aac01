// For the start-up code of boards with Raspberry Pi's RP2040 or RP2350, whose registers lie at the same offsets: the
// core's clock from a crystal of 12 MHz, and the console on GP0 and GP1. The board defines, before it includes this,
//   RESETS, XOSC, PLL_SYS, CLOCKS, IO_BANK0, PADS_BANK0, UART0   addresses
//   RESETS_USED     the bits of these subsystems
//   PLL_SYS_PRIM    by what the PLL's 1,500 MHz are divided: POSTDIV1 and POSTDIV2
//   CLOCKS_DIV_1    what a clock that is not divided has in its DIV
// Names in quotes are chapters and sections of the data sheets, with their names of registers.
#pragma once

#include "platforms/bsp/registers.h"

// "Resets": subsystems are in reset until their bit is cleared.
#define RESET REGISTER(RESETS + 0x0)
#define RESET_DONE REGISTER(RESETS + 0x8)

// "Crystal Oscillator (XOSC)". It is stable after 1 ms, in units of 256 cycles.
#define XOSC_CTRL REGISTER(XOSC + 0x0)
#define XOSC_STATUS REGISTER(XOSC + 0x4)
#define XOSC_STARTUP REGISTER(XOSC + 0xc)
#define CTRL_1_TO_15_MHZ (0xaa0u << 0)
#define CTRL_ENABLE (0xfabu << 12)
#define STATUS_STABLE (1u << 31)
#define STARTUP_1_MS 47u

// "PLL": 12 MHz times 125 is 1,500 MHz.
#define PLL_CS REGISTER(PLL_SYS + 0x0)
#define PLL_PWR REGISTER(PLL_SYS + 0x4)
#define PLL_FBDIV_INT REGISTER(PLL_SYS + 0x8)
#define PLL_PRIM REGISTER(PLL_SYS + 0xc)
#define CS_LOCK (1u << 31)
#define PWR_PD (1u << 0)
#define PWR_POSTDIVPD (1u << 3)
#define PWR_VCOPD (1u << 5)
#define FBDIV_125 125u
#define PRIM_POSTDIV1(divisor) ((divisor) << 16)
#define PRIM_POSTDIV2(divisor) ((divisor) << 12)

// "Clocks". A bit of SELECTED, of the same number as the source, says that the switch is done.
#define CLK_REF_CTRL REGISTER(CLOCKS + 0x30)
#define CLK_REF_SELECTED REGISTER(CLOCKS + 0x38)
#define CLK_SYS_CTRL REGISTER(CLOCKS + 0x3c)
#define CLK_SYS_DIV REGISTER(CLOCKS + 0x40)
#define CLK_SYS_SELECTED REGISTER(CLOCKS + 0x44)
#define CLK_PERI_CTRL REGISTER(CLOCKS + 0x48)
#define CLK_REF_SRC_XOSC 2u
#define CLK_SYS_SRC_AUX (1u << 0)  // otherwise CLK_REF
#define CLK_SYS_AUXSRC_PLL_SYS (0u << 5)
#define CLK_PERI_AUXSRC_XOSC (4u << 5)
#define CLK_PERI_ENABLE (1u << 11)

// "GPIO": UART0's TX and RX are function 2 of GP0 and GP1. A pad of the RP2350 is isolated after reset.
#define GPIO0_CTRL REGISTER(IO_BANK0 + 0x4)
#define GPIO1_CTRL REGISTER(IO_BANK0 + 0xc)
#define GPIO0_PAD REGISTER(PADS_BANK0 + 0x4)
#define GPIO1_PAD REGISTER(PADS_BANK0 + 0x8)
#define FUNCSEL_UART0 2u
#define PAD_SCHMITT (1u << 1)
#define PAD_PUE (1u << 3)  // idle if nothing is connected
#define PAD_DRIVE_4_MA (1u << 4)
#define PAD_IE (1u << 6)

// "UART": its clock, the crystal's whatever the core's is, divided by 16 times IBRD + FBRD / 64, is the speed: 115,108
// baud.
#define UARTIBRD REGISTER(UART0 + 0x24)
#define UARTFBRD REGISTER(UART0 + 0x28)
#define IBRD_115200 6u
#define FBRD_115200 33u

static inline void rp2_start_clock(void) {
  // Away from AUX, because its source must not change while it is in use.
  CLK_SYS_CTRL &= ~CLK_SYS_SRC_AUX;
  (void)wait_until(&CLK_SYS_SELECTED, 1u << 0, 1u << 0);
  RESET |= RESETS_USED;
  RESET &= ~RESETS_USED;
  (void)wait_until(&RESET_DONE, RESETS_USED, RESETS_USED);
  XOSC_STARTUP = STARTUP_1_MS;
  XOSC_CTRL = CTRL_1_TO_15_MHZ | CTRL_ENABLE;
  if (!wait_until(&XOSC_STATUS, STATUS_STABLE, STATUS_STABLE)) {
    return;
  }
  CLK_REF_CTRL = CLK_REF_SRC_XOSC;
  (void)wait_until(&CLK_REF_SELECTED, 1u << CLK_REF_SRC_XOSC, 1u << CLK_REF_SRC_XOSC);
  PLL_FBDIV_INT = FBDIV_125;
  PLL_PWR &= ~(PWR_PD | PWR_VCOPD);
  if (!wait_until(&PLL_CS, CS_LOCK, CS_LOCK)) {
    return;
  }
  PLL_PRIM = PLL_SYS_PRIM;
  PLL_PWR &= ~PWR_POSTDIVPD;
  CLK_SYS_DIV = CLOCKS_DIV_1;
  CLK_SYS_CTRL = CLK_SYS_AUXSRC_PLL_SYS;
  CLK_SYS_CTRL = CLK_SYS_AUXSRC_PLL_SYS | CLK_SYS_SRC_AUX;
  (void)wait_until(&CLK_SYS_SELECTED, 1u << 1, 1u << 1);
}

static inline void rp2_start_console(void) {
  CLK_PERI_CTRL = CLK_PERI_AUXSRC_XOSC | CLK_PERI_ENABLE;
  GPIO0_CTRL = FUNCSEL_UART0;
  GPIO1_CTRL = FUNCSEL_UART0;
  GPIO0_PAD = PAD_SCHMITT | PAD_DRIVE_4_MA | PAD_IE;
  GPIO1_PAD = PAD_SCHMITT | PAD_DRIVE_4_MA | PAD_IE | PAD_PUE;
  UARTIBRD = IBRD_115200;
  UARTFBRD = FBRD_115200;
}
