// Vector table and reset: from power-on to main().
#include "platforms/bsp/bsp.h"
#include "platforms/bsp/internal.h"
#include "platforms/bsp/scs.h"

extern uint32_t __data_load[], __data_start[], __data_end[];
extern uint32_t __bss_start[], __bss_end[];
extern void (*const __init_array_start[])(void);
extern void (*const __init_array_end[])(void);

int main(void);

typedef void (*Handler)(void);

// Initial stack pointer, then the 15 system exceptions. The board's interrupts are never enabled.
__attribute__((section(".vectors"), used)) static const Handler kVectors[VECTORS_BYTES / 4] = {
    (Handler)__stack_top, bsp_reset,
    Fault_Handler,  // NMI
    Fault_Handler,  // HardFault
    Fault_Handler,  // MemManage
    Fault_Handler,  // BusFault
    Fault_Handler,  // UsageFault
    Fault_Handler,  // SecureFault
    Fault_Handler,        Fault_Handler, Fault_Handler,
    Fault_Handler,  // SVCall
    Fault_Handler,  // DebugMonitor
    Fault_Handler,
    Fault_Handler,  // PendSV
    SysTick_Handler,
};

static void enable_coprocessors(void) {
#if defined(__ARM_FP) || defined(__ARM_FEATURE_MVE)
  CPACR |= CPACR_CP10_CP11;
#endif
#ifdef __ARM_ARCH_8_1M_MAIN__
  CCR |= CCR_LOB;
#endif
  __asm__ volatile("dsb\n\tisb" ::: "memory");
}

static void limit_stack(void) {
#if defined(__ARM_ARCH_8M_MAIN__) || defined(__ARM_ARCH_8_1M_MAIN__)
  // An overflow faults at once instead of overwriting the arena.
  __asm__ volatile("msr msplim, %0" ::"r"(__stack_bottom));
#endif
}

// An alias and not a function, so that a board without start-up code spends nothing on it.
void bsp_reset(void) __attribute__((weak, alias("Reset_Handler")));

_Noreturn void Reset_Handler(void) {
  enable_coprocessors();
  bsp_stack_paint();
  limit_stack();
  const uint32_t* source = __data_load;
  for (uint32_t* word = __data_start; word < __data_end;) {
    *word++ = *source++;
  }
  for (uint32_t* word = __bss_start; word < __bss_end;) {
    *word++ = 0;
  }
  bsp_ticks_start();
  for (Handler const* init = __init_array_start; init < __init_array_end; ++init) {
    (*init)();
  }
  bsp_exit(main());
}
