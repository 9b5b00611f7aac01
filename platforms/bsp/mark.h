// Markers of a region whose instructions a simulator counts: sim/qemu/insn_count_plugin.c.
//
// Both are moves of a register to itself: 16 bits, one instruction, no effect on registers, flags or
// memory, on every core; compilers do not emit them. Regions may nest. The instructions between the two
// markers are counted, the markers are not; instructions of an inner region also count for the outer one.
#pragma once

// Encodings, because the assembler's syntax differs between Armv6-M and later. The "memory" clobber keeps
// the compiler from moving work across the marker.
#define MARK_BEGIN() __asm__ volatile(".inst.n 0x46c9" ::: "memory")  // mov r9, r9
#define MARK_END() __asm__ volatile(".inst.n 0x46d2" ::: "memory")    // mov r10, r10
