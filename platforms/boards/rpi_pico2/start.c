// Start-up of the Raspberry Pi Pico 2: 150 MHz from the crystal, and the console on GP0 and GP1.
// Names in quotes are chapters and sections of Raspberry Pi's RP2350 data sheet, which is its reference manual.
#include "platforms/bsp/internal.h"

// "Address Map".
#define CLOCKS 0x40010000
#define RESETS 0x40020000
#define IO_BANK0 0x40028000
#define PADS_BANK0 0x40038000
#define XOSC 0x40048000
#define PLL_SYS 0x40050000
#define UART0 0x40070000

// "Resets": IO_BANK0, PADS_BANK0, PLL_SYS and UART0.
#define RESETS_USED (1u << 6 | 1u << 9 | 1u << 14 | 1u << 26)
#define PLL_SYS_PRIM (PRIM_POSTDIV1(5u) | PRIM_POSTDIV2(2u))
#define CLOCKS_DIV_1 (1u << 16)
#include "platforms/bsp/rp2.h"

// "Minimum viable image metadata": the block that the chip's ROM looks for in the first 4 KiB of flash. Without it, it
// starts nothing. The ROM then finds out how to read the flash, leaves it so, and starts what the vector table before
// this says.
#define BLOCK_START 0xffffded3
#define BLOCK_END 0xab123579
#define IMAGE_TYPE (0x42u << 0 | 1u << 8)  // an item of one word
#define IMAGE_TYPE_EXE (1u << 16)
#define IMAGE_TYPE_SECURE (2u << 20)
#define IMAGE_TYPE_ARM (0u << 24)
#define IMAGE_TYPE_RP2350 (1u << 28)
#define LAST_ITEM (0xffu << 0 | 1u << 8)  // after one word of items

__attribute__((section(".after_vectors"), used)) static const uint32_t kImageDef[] = {
    BLOCK_START,
    IMAGE_TYPE | IMAGE_TYPE_EXE | IMAGE_TYPE_SECURE | IMAGE_TYPE_ARM | IMAGE_TYPE_RP2350,
    LAST_ITEM,
    0,  // there is no other block
    BLOCK_END,
};

// "XIP": the cache in front of the flash is on after reset.
void bsp_reset(void) {
  rp2_start_clock();
  rp2_start_console();
  Reset_Handler();
}
