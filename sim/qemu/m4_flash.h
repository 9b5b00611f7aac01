// A model of what the flash of an STM32L4R5 adds to a Cortex-M4's cycles: at least and at most.
//
// The chip is the one with which results for Cortex-M4 were submitted to MLPerf Tiny, at 120 MHz. Source: "STM32L4+
// Series reference manual" (RM0432), chapter "Embedded Flash memory", sections on the read access latency and on the
// adaptive real-time memory accelerator. With two banks, as delivered:
//
//   a read that waits        5 cycles more than one that does not, above 100 MHz
//   a read of the flash      64 bits
//   instruction cache        32 lines of 256 bits, the least recently used is replaced
//   data cache               8 lines of 256 bits, the same way; also for constants between instructions
//   prefetch                 of the instructions that follow
//
// The manual leaves open how much of a line a miss fills and when, and what the prefetch hides depends on the core's
// fetches. Therefore:
//
//   at least   a miss waits once and fills its line; instructions in sequence never wait
//   at most    a miss fills only the 64 bits that it reads; nothing is prefetched
//
// Fetches of instructions that do not execute are not part of the model, nor is the end of a read that was not needed.
// Everything that lies outside of the flash's ranges has no wait states, as the chip's RAM has not.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define M4_FLASH_WAIT_STATES 5u
#define M4_FLASH_READ_BYTES 8u
#define M4_FLASH_LINE_BYTES 32u
#define M4_FLASH_INSTRUCTION_LINES 32u
#define M4_FLASH_DATA_LINES 8u
#define M4_FLASH_MAX_RANGES 4u

/// Addresses from `begin` to before `end`.
typedef struct {
  uint32_t begin;
  uint32_t end;
} M4FlashRange;

/// A line that is held. Bit r of `filled` stands for its read number r; 0 means that there is no line.
typedef struct {
  uint32_t number;  // the address divided by the line's bytes
  unsigned filled;
} M4FlashLine;

/// The lines that are held, in order of their last use, the latest first.
typedef struct {
  M4FlashLine lines[M4_FLASH_INSTRUCTION_LINES];
} M4FlashCache;

/// The waits so far. Begins with all bytes zero, apart from the ranges.
typedef struct {
  M4FlashRange ranges[M4_FLASH_MAX_RANGES];
  size_t range_count;
  uint64_t min_waits;  // cycles
  uint64_t max_waits;
  M4FlashCache instructions;
  M4FlashCache data;
  uint32_t fetched;  // the last read of instructions: the address divided by the bytes of a read
  bool running;      // whether there is one
} M4Flash;

/// Adds the fetch of an instruction of `bytes` (2 or 4) at `address` that executes now.
void m4_flash_fetch(M4Flash* flash, uint32_t address, unsigned bytes);

/// Adds a load at `address`, which does not cross the end of a read of 64 bits or is aligned to its size.
void m4_flash_load(M4Flash* flash, uint32_t address);

#ifdef __cplusplus
}  // extern "C"
#endif
