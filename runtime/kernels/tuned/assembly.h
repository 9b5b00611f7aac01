// What assembly and the C++ that calls it agree on. NAME_members.h states where assembly finds the members of a struct;
// both sides include it, so that the compiler refuses an offset that is not the struct's.
#pragma once

#ifdef __ASSEMBLER__
// clang-format off

// LDRD and LDM load words that lie side by side: fails unless each of these members is 4 bytes behind the one before.
.macro NEIGHBOURS first, others:vararg
  .set .Lneighbour, \first
  .irp member, \others
  .set .Lneighbour, .Lneighbour + 4
  .if \member - .Lneighbour
  .error "members that are loaded together do not lie side by side"
  .endif
  .endr
.endm

// With -mbranch-protection=bti, a core may check that jumps to an address from a register or from memory land on BTI: those
// of BX and BLX, but not BX LR, and of LDR. Each function begins so, each label whose address ADR takes, each element of a
// row of code that a jump is computed for, and what follows a BL, because LDR may return there. Other builds have nothing
// there. //tests/lint:landing_pads_test finds missing ones.
#if defined(__ARM_FEATURE_BTI_DEFAULT) && __ARM_FEATURE_BTI_DEFAULT
#define LANDING_PAD_BYTES 4
.macro LANDING_PAD
  .inst.w 0xf3af800f  // bti
.endm
#else
#define LANDING_PAD_BYTES 0
.macro LANDING_PAD
.endm
#endif

// Begins the function `name`, in a section of its own, so that images leave out those that nobody calls.
.macro FUNCTION name
  .section .text.\name, "ax", %progbits
  .global \name
  .type \name, %function
  .thumb_func
  .balign 8
\name:
  LANDING_PAD
.endm

// A computed jump depends on the size of code: fails unless there are `bytes` from `begin` to here.
.macro CODE_BYTES begin, bytes
  .if . - \begin - (\bytes)
  .error "a computed jump would miss: the code before this has another size than stated"
  .endif
.endm

// clang-format on
#else

#include <cstddef>

/// Fails unless `member` lies at `offset` in `Struct` on devices, where pointers have 4 bytes.
#define CMSIS_NN_DELEGATE_MEMBER_AT(offset, Struct, member)                 \
  static_assert(sizeof(void*) != 4 || offsetof(Struct, member) == (offset), \
                "assembly finds this member elsewhere: correct the offset above")

#endif
