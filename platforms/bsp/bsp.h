// What firmware uses of its board: output, time, stack use, exit. C linkage; no heap, no libc.
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

/// The core and instruction set that the image was compiled for, and the board that it was linked for:
/// "cortex-m55", "mve", "mps3-an547". NUL-terminated.
extern const char bsp_core[];
extern const char bsp_isa[];
extern const char bsp_board[];

/// The clock of the board's core and of bsp_ticks(), by the board's description. In simulators it is that of the board
/// too, so that a time says how many instructions were executed, and nothing about speed.
extern const uint32_t bsp_clock_hz;

/// Exit code of an image that ended in a fault.
#define BSP_EXIT_FAULT 111

// An image may define the next two itself, to report in another way than by lines on the UART.

/// Writes `size` bytes to the UART; returns once it has accepted the last one.
void bsp_write(const char* data, size_t size);

/// Ends the run: prints "\n##EXIT rc=<code>##\n", asks the simulator to stop with `code` (0 to 255) by
/// semihosting, and sleeps forever if no debugger answers.
BSP_NORETURN void bsp_exit(int code);

/// Returns the ticks of SysTick, driven by the core clock, since start-up. Never decreases and does not wrap
/// (an interrupt extends the counter's 24 bits). May be called from anywhere, even with interrupts masked, but
/// they must not be masked for more than 2^24 ticks. In simulators, a tick is a fixed number of instructions, which
/// follows from the clock in platforms/boards.bzl.
uint64_t bsp_ticks(void);

/// Returns the largest number of stack bytes used so far, including interrupts: start-up fills the stack with a
/// pattern, and this function looks how much of it is left. Memory that happens to hold the pattern counts as free.
size_t bsp_stack_high_water(void);

#ifdef __cplusplus
}  // extern "C"
#endif
