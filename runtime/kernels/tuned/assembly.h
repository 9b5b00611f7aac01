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
