// For the start-up code of boards: registers by their address, and waiting for hardware.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t*)(address))
#define REGISTER_16(address) (*(volatile uint16_t*)(address))
#define REGISTER_8(address) (*(volatile uint8_t*)(address))

#define READS_UNTIL_GIVEN_UP 100000

/// Waits until the bits `mask` of a register are `value`; returns false if they do not become that.
///
/// It gives up after 100,000 reads, some 10 ms at the clocks that cores start with, and oscillators need 2 at most: with a
/// broken crystal, or in a simulator that has no model of the register, the image still starts and can say so.
static inline bool wait_until(const volatile uint32_t* address, uint32_t mask, uint32_t value) {
  for (int reads = 0; reads < READS_UNTIL_GIVEN_UP; ++reads) {
    if ((*address & mask) == value) {
      return true;
    }
  }
  return false;
}

/// The same for a register that is a byte: other widths would read its neighbours, too.
static inline bool wait_until_8(const volatile uint8_t* address, uint32_t mask, uint32_t value) {
  for (int reads = 0; reads < READS_UNTIL_GIVEN_UP; ++reads) {
    if ((*address & mask) == value) {
      return true;
    }
  }
  return false;
}
