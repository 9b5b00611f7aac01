// The time base: SysTick, extended to 64 bits by its interrupt.
#include "platforms/bsp/bsp.h"
#include "platforms/bsp/internal.h"
#include "platforms/bsp/scs.h"

// SysTick counts down from kPeriod - 1 to 0 and interrupts when it reaches 0.
static const uint32_t kPeriod = 1u << 24;

static volatile uint32_t wraps;

void SysTick_Handler(void) { wraps = wraps + 1; }

void bsp_ticks_start(void) {
  SYST_RVR = kPeriod - 1;
  SYST_CVR = 0;  // Any write clears it; the first tick loads kPeriod - 1.
  SYST_CSR = SYST_CSR_ENABLE | SYST_CSR_TICKINT | SYST_CSR_CLKSOURCE;
}

// Skips 0: at that value the interrupt may or may not be pending yet.
static uint32_t counter(void) {
  uint32_t value;
  do {
    value = SYST_CVR;
  } while (value == 0);
  return value;
}

uint64_t bsp_ticks(void) {
  uint32_t primask;
  __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(primask)::"memory");
  uint32_t high = wraps;
  uint32_t value = counter();
  if ((ICSR & ICSR_PENDSTSET) != 0) {
    // The counter wrapped, and the interrupt is still pending; `value` may be from before the wrap.
    high += 1;
    value = counter();
  }
  __asm__ volatile("msr primask, %0" ::"r"(primask) : "memory");
  return ((uint64_t)high << 24) + (kPeriod - value);
}
