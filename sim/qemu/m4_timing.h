// A model of the Cortex-M4's cycles: what executed instructions take at least and at most.
//
// Source: "Arm Cortex-M4 Processor Technical Reference Manual", r0p1 (100166_0001), section 3.3: the table of
// processor instructions (Table 3-1) and the load and store timings. Where the manual gives a range, so does the model:
//
//   taken branch             1 + P, where P is 1 to 3, "depending on the alignment and width of the target instruction, and
//                            whether the processor manages to speculate the address early"
//   division                 2 to 12, depending on the numbers
//   load from the code       may wait a cycle for the fetch unit
//   IT                       0 or 1: it may be folded into the instruction before it
//   load after a load that   1 or 2: the manual does not say whether they are pipelined
//   has updated its base
//
// Everything else has one number of cycles there. Memory has no wait states, and nothing else uses the bus: what flash
// adds on a real device is another model, m4_flash.h.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef enum {
  kM4Data,         // reads and writes registers
  kM4Load,         // of one register
  kM4Store,        // of one register, at an immediate offset
  kM4StoreOffset,  // of one register, at a register's offset
  kM4Multiple,     // loads or stores of several registers, or of registers of the FPU
  kM4Branch,       // also if it is not taken
  kM4Other,
} M4Kind;

/// An instruction. Sets of registers have bit r for register r.
typedef struct {
  M4Kind kind;
  uint8_t min_cycles;  // without what depends on other instructions
  uint8_t max_cycles;
  uint8_t bytes;     // of the instruction: 2 or 4
  uint8_t width;     // of the memory access of a kM4Load: 1, 2 or 4 bytes
  uint16_t writes;   // results of a kM4Data, what a kM4Load loads
  uint16_t updates;  // the base that a kM4Load or kM4Store changes
  uint16_t address;  // what an address is computed from
} M4Instruction;

/// Returns the bytes of the instruction that begins with the halfword `first`: 2 or 4.
size_t m4_size(uint16_t first);

/// Returns the instruction of `size` bytes (2 or 4) at `code`, as in memory.
M4Instruction m4_decode(const void* code, size_t size);

/// The cycles of the instructions so far. Begins with all bytes zero.
typedef struct {
  uint64_t min_cycles;
  uint64_t max_cycles;
  M4Instruction last;
  uint32_t next;  // the address after `last`
  bool running;   // whether there is a `last`
} M4Timing;

/// Adds an instruction at `address` that executes now.
void m4_execute(M4Timing* timing, const M4Instruction* instruction, uint32_t address);

/// Adds what the load that has executed last takes because of its alignment.
void m4_load_from(M4Timing* timing, const M4Instruction* load, uint32_t address);

#ifdef __cplusplus
}  // extern "C"
#endif
