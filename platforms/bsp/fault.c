// Any exception except SysTick ends the run with one line that says where it happened:
//   ##FAULT exception=<n> pc=<8 hex> lr=<8 hex> cfsr=<8 hex> opcode=<8 hex, or none outside the code>
// and, if the core knows it, " address=<8 hex>", the address that could not be accessed.
// An instruction that the core does not have is reported with cfsr=00010000 and its opcode. If the stack pointer
// was not in RAM, the place is unknown: pc and lr are 0.
#include "platforms/bsp/bsp.h"
#include "platforms/bsp/internal.h"
#include "platforms/bsp/scs.h"

extern const uint16_t __text_start[], __text_end[];

__attribute__((used)) static _Noreturn void report(uint32_t pc, uint32_t lr, uint32_t exception) {
  bsp_write_string("\n##FAULT exception=");
  bsp_write_decimal(exception);
  bsp_write_string(" pc=");
  bsp_write_hex(pc);
  bsp_write_string(" lr=");
  bsp_write_hex(lr);
  bsp_write_string(" cfsr=");
#if __ARM_ARCH_ISA_THUMB < 2
  bsp_write_hex(0);
#else
  bsp_write_hex(CFSR);
#endif
  bsp_write_string(" opcode=");
  const uint16_t* code = (const uint16_t*)(pc & ~1u);
  if (code >= __text_start && code + 1 < __text_end) {
    bsp_write_hex((uint32_t)code[0] << 16 | code[1]);
  } else {
    bsp_write_string("none");
  }
#if __ARM_ARCH_ISA_THUMB >= 2
  if (CFSR & (CFSR_MMARVALID | CFSR_BFARVALID)) {
    bsp_write_string(" address=");
    bsp_write_hex(CFSR & CFSR_MMARVALID ? MMFAR : BFAR);
  }
#endif
  bsp_write_string("\n");
  bsp_exit(BSP_EXIT_FAULT);
}

// Takes lr and pc from the stacked frame, then resets the stack, which may have overflowed. Reading a frame
// outside RAM would be a fault in the fault handler, which locks up the core silently.
__attribute__((naked)) void Fault_Handler(void) {
  __asm__ volatile(
      ".syntax unified\n\t"
      "mrs r2, ipsr\n\t"
      "movs r0, #0\n\t"
      "movs r1, #0\n\t"
      "mov r3, sp\n\t"
      "mov r12, r3\n\t"
      "ldr r3, =__data_start\n\t"  // where RAM begins
      "cmp r12, r3\n\t"
      "blo 1f\n\t"
      "ldr r3, =__stack_top - 32\n\t"
      "cmp r12, r3\n\t"
      "bhi 1f\n\t"
      "mov r3, r12\n\t"
      "ldr r1, [r3, #20]\n\t"
      "ldr r0, [r3, #24]\n"
      "1:\n\t"
      "ldr r3, =__stack_top\n\t"
      "mov sp, r3\n\t"
      "ldr r3, =report\n\t"
      "bx r3\n\t"
      ".ltorg");
}
