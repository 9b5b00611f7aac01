// For the start-up code of boards: registers by their address, and waiting for hardware.
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define REGISTER(address) (*(volatile uint32_t*)(address))

/// Waits until the bits `mask` of a register are `value`; returns false if they do not become that.
///
/// It gives up after 100,000 reads, some 10 ms at the clocks that cores start with, and oscillators need 2 at most: with a
/// broken crystal, or in a simulator that has no model of the register, the image still starts and can say so.
static inline bool wait_until(const volatile uint32_t* address, uint32_t mask, uint32_t value) {
  for (int reads = 0; reads < 100000; ++reads) {
    if ((*address & mask) == value) {
      return true;
    }
  }
  return false;
}
