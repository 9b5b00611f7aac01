// What firmware gets from its board: output, time, stack use, an end. C linkage; no heap, no libc.
//
// Start-up enables the FPU and the vector unit, copies .data, zeroes .bss, runs .init_array, starts the
// time base, then calls `int main(void)` and passes its result to bsp_exit().
//
// From the linker script, all 16-byte aligned:
//   __mailbox_start, __mailbox_end   where the simulator loads a job; neither initialised nor zeroed
//   __arena_start, __arena_end       all RAM that is free after .bss and below the stack
#pragma once

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define BSP_NORETURN [[noreturn]]
extern "C" {
#else
#define BSP_NORETURN _Noreturn
#endif

extern unsigned char __mailbox_start[];
extern unsigned char __mailbox_end[];
extern unsigned char __arena_start[];
extern unsigned char __arena_end[];

/// What the image was compiled for and linked for, as in platforms/cores.bzl: "cortex-m55", "mve",
/// "mps3-an547". NUL-terminated.
extern const char bsp_core[];
extern const char bsp_isa[];
extern const char bsp_board[];

/// Exit code of an image that ended in a fault.
#define BSP_EXIT_FAULT 111

/// Writes `size` bytes to the UART; returns when the last one is accepted.
void bsp_write(const char* data, size_t size);

/// Ends the run: prints "\n##EXIT rc=<code>##\n", asks the simulator to stop with `code` (0 to 255) by
/// semihosting, and sleeps for ever where there is no debugger to answer that.
BSP_NORETURN void bsp_exit(int code);

/// Ticks of the core clock's SysTick since start-up. Never decreases, does not wrap (the 24 bits of the
/// counter are extended by its interrupt); callable from anywhere, also with interrupts masked, as long
/// as they are not masked for more than 2^24 ticks. In QEMU a tick is a fixed number of instructions:
/// platforms/boards.bzl.
uint64_t bsp_ticks(void);

/// The most bytes of stack ever used, interrupts included: start-up fills the stack with a pattern,
/// this looks how much of it is left. An unused block that was written with the pattern counts as free.
size_t bsp_stack_high_water(void);

#ifdef __cplusplus
}  // extern "C"
#endif
