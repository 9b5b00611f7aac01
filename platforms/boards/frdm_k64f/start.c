// Start-up of the FRDM-K64F: no watchdog, 120 MHz, and the console on PTB16 and PTB17.
// Names in quotes are chapters of NXP's K64 Sub-Family reference manual, K64P144M120SF5RM, with its names of registers.
#include "platforms/bsp/internal.h"
#include "platforms/bsp/registers.h"

// "FTFE", flash configuration field: what the chip reads at 0x400 when it starts. Another FSEC could lock out
// debuggers, for good. Before it is room for the vectors of the board's interrupts, which are never enabled.
#define FIELD_ADDRESS 0x400
#define FSEC_UNSECURED 0xfe
#define FOPT_RESET 0xff

__attribute__((section(".after_vectors"), used)) static const struct {
  uint8_t vectors[FIELD_ADDRESS - VECTORS_BYTES];
  uint8_t key[8];
  uint8_t fprot[4];  // nothing is protected
  uint8_t fsec;
  uint8_t fopt;
  uint8_t feprot;
  uint8_t fdprot;
} kStart = {
    .vectors = {[0 ... FIELD_ADDRESS - VECTORS_BYTES - 1] = 0xff},
    .key = {[0 ... 7] = 0xff},
    .fprot = {[0 ... 3] = 0xff},
    .fsec = FSEC_UNSECURED,
    .fopt = FOPT_RESET,
    .feprot = 0xff,
    .fdprot = 0xff,
};

// "WDOG": on after reset. It can be set up within 256 cycles of the bus, of which unlocking it takes at most 20.
#define WDOG_STCTRLH REGISTER_16(0x40052000)
#define WDOG_UNLOCK REGISTER_16(0x4005200e)
#define UNLOCK_FIRST 0xc520
#define UNLOCK_SECOND 0xd928
#define STCTRLH_WDOGEN (1u << 0)
#define STCTRLH_RESET 0x01d3u

// "MCG". From the FLL inside to the PLL in two steps, FBE and PBE, as its table of mode transitions asks for.
#define MCG_C1 REGISTER_8(0x40064000)
#define MCG_C2 REGISTER_8(0x40064001)
#define MCG_C5 REGISTER_8(0x40064004)
#define MCG_C6 REGISTER_8(0x40064005)
#define MCG_S REGISTER_8(0x40064006)

// 50 MHz / 1536 is 33 kHz. The FLL needs 31.25 kHz to 39.0625 kHz, until the PLL takes over.
#define C1_FRDIV_1536 (7u << 3)
#define C1_CLKS_FLL_OR_PLL (0u << 6)
#define C1_CLKS_EXTERNAL (2u << 6)
// Not a crystal: the board's Ethernet PHY, with a crystal of its own, drives EXTAL0 with 50 MHz.
#define C2_LP (1u << 1)
#define C2_EREFS (1u << 2)
#define C2_RANGE (3u << 4)
#define C2_RANGE_VERY_HIGH (2u << 4)
// 50 MHz divided by PRDIV is 2.5 MHz, times VDIV is the core's clock.
#define C5_PRDIV_20 (19u << 0)
#define C5_PLLCLKEN (1u << 6)
#define C6_VDIV_48 (24u << 0)
#define C6_PLLS (1u << 6)
#define S_CLKST (3u << 2)
#define S_CLKST_EXTERNAL (2u << 2)
#define S_CLKST_PLL (3u << 2)
#define S_IREFST (1u << 4)
#define S_PLLST (1u << 5)
#define S_LOCK (1u << 6)

// "SIM". FMC's cache, prefetch and speculation buffer are on after reset, and it finds the wait states itself.
#define SIM_SCGC4 REGISTER(0x40048034)
#define SIM_SCGC5 REGISTER(0x40048038)
#define SIM_CLKDIV1 REGISTER(0x40048044)
#define SCGC4_UART0 (1u << 10)
#define SCGC5_PORTB (1u << 10)
#define CLKDIV1_CORE_1 (0u << 28)
#define CLKDIV1_BUS_2 (1u << 24)      // 60 MHz, its maximum
#define CLKDIV1_FLEXBUS_3 (2u << 20)  // 40 MHz, of at most 50
#define CLKDIV1_FLASH_5 (4u << 16)    // 24 MHz, of at most 25

// "PORT". "Signal multiplexing": UART0_RX is alternative 3 of PTB16, and UART0_TX of PTB17.
#define PORTB_PCR16 REGISTER(0x4004a040)
#define PORTB_PCR17 REGISTER(0x4004a044)
#define PCR_MUX_3 (3u << 8)

// "UART": the core's clock, divided by 16 times SBR + BRFA / 32, is the speed: 115,218 baud.
#define UART0_BDH REGISTER_8(0x4006a000)
#define UART0_BDL REGISTER_8(0x4006a001)
#define UART0_C4 REGISTER_8(0x4006a00a)
#define SBR_115200 65u
#define BRFA_115200 3u

static void stop_watchdog(void) {
  WDOG_UNLOCK = UNLOCK_FIRST;
  WDOG_UNLOCK = UNLOCK_SECOND;
  WDOG_STCTRLH = STCTRLH_RESET & ~STCTRLH_WDOGEN;
}

static void start_clock(void) {
  SIM_CLKDIV1 = CLKDIV1_CORE_1 | CLKDIV1_BUS_2 | CLKDIV1_FLEXBUS_3 | CLKDIV1_FLASH_5;
  MCG_C2 = (uint8_t)((MCG_C2 & ~(C2_LP | C2_EREFS | C2_RANGE)) | C2_RANGE_VERY_HIGH);
  MCG_C1 = C1_CLKS_EXTERNAL | C1_FRDIV_1536;
  (void)wait_until_8(&MCG_S, S_IREFST | S_CLKST, S_CLKST_EXTERNAL);
  MCG_C6 = C6_VDIV_48;
  MCG_C5 = C5_PRDIV_20;
  MCG_C5 = C5_PRDIV_20 | C5_PLLCLKEN;
  MCG_C6 = C6_VDIV_48 | C6_PLLS;
  if (wait_until_8(&MCG_S, S_PLLST | S_LOCK, S_PLLST | S_LOCK)) {
    MCG_C1 = C1_CLKS_FLL_OR_PLL | C1_FRDIV_1536;
    (void)wait_until_8(&MCG_S, S_CLKST, S_CLKST_PLL);
  }
}

static void start_console(void) {
  SIM_SCGC4 |= SCGC4_UART0;
  SIM_SCGC5 |= SCGC5_PORTB;
  PORTB_PCR16 = PCR_MUX_3;
  PORTB_PCR17 = PCR_MUX_3;
  UART0_BDH = 0;  // takes effect with BDL
  UART0_BDL = SBR_115200;
  UART0_C4 = BRFA_115200;
}

void bsp_reset(void) {
  stop_watchdog();
  start_clock();
  start_console();
  Reset_Handler();
}
