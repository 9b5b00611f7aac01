// The operands of a call in memory, and its amount of work, computed from its argument block only.
//
// Works on any argument block, valid or not; an invalid operand has 0 bytes.
#pragma once

#include <cstdint>

#include "tests/payloads/operator_fields.h"

namespace cmsis_nn_delegate::fuzz {

struct Operand {
  std::uint16_t field;  // offset of the reference in the argument block
  FieldKind kind;
  std::uint8_t alignment;
  std::uint32_t bytes;

  bool is_constant() const { return kind >= FieldKind::kFilter; }
};

struct Operands {
  Operand operands[kMaxReferences];
  unsigned count = 0;
  /// An upper bound of the multiplications, comparisons or moves of the call.
  std::uint64_t work = 0;

  const Operand* begin() const { return operands; }
  const Operand* end() const { return operands + count; }
};

/// `args` is the argument block of `opcode`; none for an unknown opcode.
Operands operands_of(std::uint16_t opcode, const void* args);

}  // namespace cmsis_nn_delegate::fuzz
