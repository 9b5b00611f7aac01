// Declarations that the parts of the board support share.
#pragma once

#include <stdint.h>

extern uint32_t __stack_bottom[];
extern uint32_t __stack_top[];

void bsp_ticks_start(void);  // Before the first bsp_ticks().
void bsp_stack_paint(void);  // Called before .bss is zeroed: uses no static data.

void bsp_write_string(const char* text);  // NUL-terminated.
void bsp_write_decimal(uint32_t value);
void bsp_write_hex(uint32_t value);  // 8 digits.

// Vectors.
//
// The first code after reset, with the stack pointer set and nothing else. A board with start-up code of its own defines
// it (platforms/README.md): it sets clocks, caches and pins, uses no static data but constants, and ends by calling
// Reset_Handler(). Otherwise it is Reset_Handler() itself.
void bsp_reset(void);

// Bytes of the vector table. It is at the start of flash, behind what start-up code puts into the section .boot2, and before
// what it puts into .after_vectors: what its chip looks for there (platforms/README.md).
#define VECTORS_BYTES 64
_Noreturn void Reset_Handler(void);
void Fault_Handler(void);
void SysTick_Handler(void);
