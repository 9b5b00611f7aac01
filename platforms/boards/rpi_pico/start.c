// Start-up of the Raspberry Pi Pico: how its flash is read, 125 MHz from the crystal, and the console on GP0 and GP1.
// Names in quotes are chapters and sections of Raspberry Pi's RP2040 data sheet, which is its reference manual.
#include "platforms/bsp/internal.h"

// "Address Map".
#define CLOCKS 0x40008000
#define RESETS 0x4000c000
#define IO_BANK0 0x40014000
#define PADS_BANK0 0x4001c000
#define XOSC 0x40024000
#define PLL_SYS 0x40028000
#define UART0 0x40034000

// "Subsystem Resets": IO_BANK0, PADS_BANK0, PLL_SYS and UART0.
#define RESETS_USED (1u << 5 | 1u << 8 | 1u << 12 | 1u << 22)
#define PLL_SYS_PRIM (PRIM_POSTDIV1(6u) | PRIM_POSTDIV2(2u))
#define CLOCKS_DIV_1 (1u << 8)
#include "platforms/bsp/rp2.h"

// "SSI": the controller of the flash.
#define SSI_CTRLR0 REGISTER(0x18000000)
#define SSI_CTRLR1 REGISTER(0x18000004)
#define SSI_SSIENR REGISTER(0x18000008)
#define SSI_BAUDR REGISTER(0x18000014)
#define SSI_SPI_CTRLR0 REGISTER(0x180000f4)
#define CTRLR0_TMOD_EEPROM_READ (3u << 8)  // sends a command and an address, then receives
#define CTRLR0_DFS_32 (31u << 16)          // 32 bits, over one data line
#define CTRLR1_NDF_1 0u                    // once
#define BAUDR_4 4u  // 31.25 MHz at 125 MHz; the board's flash takes 50 MHz for this command
#define SPI_CTRLR0_1_LINE (0u << 0)  // also for command and address
#define SPI_CTRLR0_ADDRESS_24 (6u << 2)
#define SPI_CTRLR0_COMMAND_8 (2u << 8)
#define SPI_CTRLR0_READ (3u << 24)  // the command of every serial flash

// "Cortex-M0+", list of registers.
#define VTOR REGISTER(0xe000ed08)

extern const volatile uint32_t __text_start[];  // the vector table

// "Flash Second Stage": what the chip's ROM copies from the first 256 bytes of flash to the end of SRAM5 and calls
// there, if they end in their checksum, which the build writes. So it must not refer to code or data by their distance.
// It lets the flash be read like memory, and starts the image as a core does after reset.
__attribute__((section(".boot2"), used, noreturn)) static void boot2(void) {
  SSI_SSIENR = 0;  // The others may be written while it is off.
  SSI_BAUDR = BAUDR_4;
  SSI_CTRLR0 = CTRLR0_TMOD_EEPROM_READ | CTRLR0_DFS_32;
  SSI_CTRLR1 = CTRLR1_NDF_1;
  SSI_SPI_CTRLR0 =
      SPI_CTRLR0_1_LINE | SPI_CTRLR0_ADDRESS_24 | SPI_CTRLR0_COMMAND_8 | SPI_CTRLR0_READ;
  SSI_SSIENR = 1;
  VTOR = (uint32_t)__text_start;
  __asm__ volatile("msr msp, %0\n\tbx %1" ::"r"(__text_start[0]), "r"(__text_start[1]));
  __builtin_unreachable();
}

// "XIP": the cache in front of the flash is on after reset.
void bsp_reset(void) {
  rp2_start_clock();
  rp2_start_console();
  Reset_Handler();
}
