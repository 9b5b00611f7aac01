// Start-up of the nRF52840 DK: the crystal, the instruction cache, and the console on P0.06 and P0.08.
// Names in quotes are chapters of Nordic's product specification of the nRF52840, with its names of registers.
#include "platforms/bsp/internal.h"
#include "platforms/bsp/registers.h"

// "CLOCK": the core runs at 64 MHz from reset on, from an oscillator inside; the crystal makes that exact.
#define CLOCK_TASKS_HFCLKSTART REGISTER(0x40000000)
#define CLOCK_EVENTS_HFCLKSTARTED REGISTER(0x40000100)

// "POWER": the regulator with a coil, which the board has, needs less current.
#define POWER_DCDCEN REGISTER(0x40000578)
#define DCDCEN_ENABLED 1u

// "NVMC": the cache of instructions and constants in flash.
#define NVMC_ICACHECNF REGISTER(0x4001e540)
#define ICACHECNF_CACHEEN (1u << 0)

// "GPIO": port 0. The direction of a pin matters when the UART is off.
#define P0_OUTSET REGISTER(0x50000508)
#define P0_PIN_CNF_6 REGISTER(0x50000718)
#define P0_PIN_CNF_8 REGISTER(0x50000720)
#define P0_06 (1u << 6)
#define PIN_CNF_OUTPUT (1u << 0)
#define PIN_CNF_NO_INPUT (1u << 1)
#define PIN_CNF_PULL_UP (3u << 2)

// "UART": to be set before the UART is enabled.
#define UART0_PSEL_TXD REGISTER(0x4000250c)
#define UART0_PSEL_RXD REGISTER(0x40002514)
#define UART0_BAUDRATE REGISTER(0x40002524)
#define PSEL_P0_06 6u  // port 0, connected
#define PSEL_P0_08 8u
#define BAUDRATE_115200 0x01d7e000u

static void start_clock(void) {
  POWER_DCDCEN = DCDCEN_ENABLED;
  NVMC_ICACHECNF = ICACHECNF_CACHEEN;
  CLOCK_EVENTS_HFCLKSTARTED = 0;
  CLOCK_TASKS_HFCLKSTART = 1;
  // Without it, the oscillator inside goes on.
  (void)wait_until(&CLOCK_EVENTS_HFCLKSTARTED, 1, 1);
}

static void start_console(void) {
  P0_OUTSET = P0_06;  // the level of an idle line
  P0_PIN_CNF_6 = PIN_CNF_OUTPUT | PIN_CNF_NO_INPUT;
  P0_PIN_CNF_8 = PIN_CNF_PULL_UP;  // an input, idle if nothing is connected
  UART0_PSEL_TXD = PSEL_P0_06;
  UART0_PSEL_RXD = PSEL_P0_08;
  UART0_BAUDRATE = BAUDRATE_115200;
}

void bsp_reset(void) {
  start_clock();
  start_console();
  Reset_Handler();
}
