// For the start-up code of boards: the caches of a Cortex-M7, Cortex-M55 or Cortex-M85. Sections of Arm's Armv7-M
// Architecture Reference Manual; Armv8.1-M has the same registers.
#pragma once

#include "platforms/bsp/registers.h"

// Section B3.2 (CCR, CCSIDR, CSSELR), and "Cache and branch predictor maintenance operations" there (ICIALLU, DCISW).
#define CACHES_CCR REGISTER(0xe000ed14)
#define CCSIDR REGISTER(0xe000ed80)
#define CSSELR REGISTER(0xe000ed84)
#define ICIALLU REGISTER(0xe000ef50)
#define DCISW REGISTER(0xe000ef60)
#define CCR_DC (1u << 16)
#define CCR_IC (1u << 17)
#define CCR_BP (1u << 18)  // branch prediction: always on in a Cortex-M7

/// Switches on both caches, with nothing in them.
static inline void start_caches(void) {
  __asm__ volatile("dsb\n\tisb" ::: "memory");
  ICIALLU = 0;
  CSSELR = 0;  // the data cache of level 1
  __asm__ volatile("dsb\n\tisb" ::: "memory");
  const uint32_t last_set = (CCSIDR >> 13) & 0x7fff;
  // The data cache of these cores has 4 ways, in bits 31 and 30, and lines of 32 bytes, so that a set is in the bits
  // from 5 on.
  for (uint32_t set = 0; set <= last_set; ++set) {
    for (uint32_t way = 0; way < 4; ++way) {
      DCISW = way << 30 | set << 5;
    }
  }
  __asm__ volatile("dsb" ::: "memory");
  CACHES_CCR |= CCR_DC | CCR_IC | CCR_BP;
  __asm__ volatile("dsb\n\tisb" ::: "memory");
}

// Arm's Cortex-M85 Technical Reference Manual, registers.
#define ACTLR REGISTER(0xe000e008)
#define CPUID REGISTER(0xe000ed00)
#define MSCR REGISTER(0xe001e000)
#define ACTLR_ERRATA (1u << 16)
#define CPUID_VARIANT_AND_REVISION 0x00f0000fu
#define CPUID_R1P1 0x00100001u
#define MSCR_ECCEN (1u << 1)  // error correction of caches and TCMs
#define MSCR_FORCEWT (1u << 2)

/// To be called before start_caches() on a Cortex-M85. Errata 3175626 and 3190818 of its SDEN-2236668: before r1p1, the
/// data cache has to write through, and bit 16 of ACTLR has to be set.
static inline void mend_m85_caches(void) {
  if ((CPUID & CPUID_VARIANT_AND_REVISION) < CPUID_R1P1) {
    MSCR |= MSCR_FORCEWT;
    ACTLR |= ACTLR_ERRATA;
  }
}
