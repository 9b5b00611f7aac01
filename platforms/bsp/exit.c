// Ends a run; see bsp.h.
#include "platforms/bsp/bsp.h"
#include "platforms/bsp/internal.h"

// Numbers from Arm's semihosting specification.
static const uint32_t kSysExitExtended = 0x20;
static const uint32_t kApplicationExit = 0x20026;

// Semihosting of Armv6-M and later: operation in r0, its argument in r1.
static void semihost(uint32_t operation, const void* argument) {
  register uint32_t r0 __asm__("r0") = operation;
  register const void* r1 __asm__("r1") = argument;
  __asm__ volatile("bkpt 0xab" : "+r"(r0) : "r"(r1) : "memory");
}

// Weak: see bsp.h.
__attribute__((weak)) void bsp_exit(int code) {
  static volatile int leaving;
  if (!leaving) {
    // Without a debugger, the bkpt below faults, and the fault handler calls this function again.
    leaving = 1;
    bsp_write_string("\n##EXIT rc=");
    bsp_write_decimal((uint32_t)code);
    bsp_write_string("##\n");
    const uint32_t block[2] = {kApplicationExit, (uint32_t)code};
    semihost(kSysExitExtended, block);
  }
  for (;;) {
    __asm__ volatile("wfi");
  }
}
