// Start-up of the AppKit-E7-AIML: the caches, and the console on P12_1 and P12_2. The chip's Secure Enclave has started
// the core at 400 MHz, by its own firmware and the device's configuration. Names in quotes are chapters of Alif's
// Ensemble E7 hardware reference manual, with its names of registers.
#include "platforms/bsp/caches.h"
#include "platforms/bsp/internal.h"
#include "platforms/bsp/registers.h"

// "CLKCTL_PER_SLV": clocks of the peripherals. UART4's is the crystal's, 38.4 MHz, whatever the core's is.
#define EXPMST0_CTRL REGISTER(0x4902f000)
#define UART_CTRL REGISTER(0x4902f008)
#define EXPMST0_CTRL_PCLK_FORCE (1u << 30)
#define EXPMST0_CTRL_IPCLK_FORCE (1u << 31)
#define UART_CTRL_UART4_ENABLE (1u << 4)
#define UART_CTRL_UART4_SYST_PCLK (1u << 12)

// "PINMUX": UART4's RX and TX are function 2 of P12_1 and P12_2. A register has the function, and the pad from bit 16
// on.
#define PINMUX_P12_1 REGISTER(0x1a603184)
#define PINMUX_P12_2 REGISTER(0x1a603188)
#define FUNCTION_2 (2u << 0)
#define PAD_READ_ENABLE (1u << 16)

// "UART": 38.4 MHz divided by 16 times DLH, DLL and sixteenths in DLF is the speed: 115,315 baud.
#define UART4_DLL REGISTER(0x4901c000)
#define UART4_DLH REGISTER(0x4901c004)
#define UART4_LCR REGISTER(0x4901c00c)
#define UART4_DLF REGISTER(0x4901c0c0)
#define LCR_DLAB (1u << 7)
#define DLL_115200 20u
#define DLF_115200 13u

static void start_console(void) {
  EXPMST0_CTRL |= EXPMST0_CTRL_PCLK_FORCE | EXPMST0_CTRL_IPCLK_FORCE;
  UART_CTRL = (UART_CTRL & ~UART_CTRL_UART4_SYST_PCLK) | UART_CTRL_UART4_ENABLE;
  PINMUX_P12_1 = FUNCTION_2 | PAD_READ_ENABLE;
  PINMUX_P12_2 = FUNCTION_2;
  UART4_LCR = LCR_DLAB;
  UART4_DLL = DLL_115200;
  UART4_DLH = 0;
  UART4_DLF = DLF_115200;
  UART4_LCR = 0;
}

void bsp_reset(void) {
  // First, because the pins' registers are where the core takes all for memory, which it would cache.
  start_console();
  start_caches();
  Reset_Handler();
}
