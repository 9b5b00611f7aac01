"""Generates runtime/payload/operator_fields.h from `schema`: the members of every argument block as a table.

    python -m cmsis_nn_delegate.payload.operator_fields OUTPUT

For tests and fuzzers, which change each member of each operator in turn.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator

from . import generated, schema
from .cpp_header import camel
from .layout import F32, I32, REF, Field, Struct

_TEXT = """\
// Generated from aot/cmsis_nn_delegate/payload/schema.py. Do not edit.
//
// The members of every argument block, for what changes them one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "runtime/payload/format.h"

namespace cmsis_nn_delegate {{

/// What a member is. From kInput on it is a reference, from kFilter on one that names constants.
enum class FieldKind : std::uint8_t {{
  kInteger,
  kFloat,
  kInput,
  kOutput,
  kScratch,
  kFilter,
  kBias,
  kMultiplier,
  kShift,
}};

/// A member of 4 bytes of an argument block; nested structs are taken apart.
struct OperatorField {{
  const char* name;
  std::uint16_t offset;
  FieldKind kind;
  /// Of an integer with a range of its own, which is [low, high]. `related`: other members limit it, too.
  bool ranged;
  bool related;
  std::int32_t low;
  std::int32_t high;
  /// Of a reference: the data is so many elements as the product of the int32 members at these offsets.
  std::uint8_t alignment;
  std::uint8_t element_bytes;
  std::uint8_t factor_count;
  std::uint16_t factors[4];

  constexpr bool is_reference() const {{ return kind >= FieldKind::kInput; }}
  constexpr bool is_constant() const {{ return kind >= FieldKind::kFilter; }}

  /// The size of the data that this member of `args` names; 0 if a factor is not positive, at most 2^40.
  std::uint64_t bytes(const void* args) const {{
    constexpr std::uint64_t kMost = std::uint64_t{{1}} << 40;
    std::uint64_t size = element_bytes;
    for (unsigned i = 0; i < factor_count; ++i) {{
      std::int32_t factor;
      std::memcpy(&factor, static_cast<const char*>(args) + factors[i], sizeof(factor));
      if (factor <= 0) {{
        return 0;
      }}
      size *= static_cast<std::uint32_t>(factor);
      size = size < kMost ? size : kMost;
    }}
    return size;
  }}
}};

struct OperatorFields {{
  const OperatorField* fields;
  std::uint16_t count;
  std::uint16_t bytes;  // of the argument block; 0: no operator has this opcode

  const OperatorField* begin() const {{ return fields; }}
  const OperatorField* end() const {{ return fields + count; }}
}};

{tables}
/// By opcode.
inline constexpr OperatorFields kOperatorFields[payload::kOpcodeCount] = {{
{rows}
}};

}}  // namespace cmsis_nn_delegate
"""


def _flat(layout: Struct, path: str = "", start: int = 0) -> Iterator[tuple[str, int, Field, Struct]]:
    """(path, offset, field, the struct that it is a member of) of every scalar of `layout`."""
    offset = start
    for field in layout.fields:
        if isinstance(field.type, Struct):
            yield from _flat(field.type, f"{path}{field.name}.", offset)
        elif field.type not in (F32, I32, REF) or field.count != 1:
            raise ValueError(f"{layout.name}.{field.name}: an argument block has single members of 4 bytes")
        else:
            yield path + field.name, offset, field, layout
        offset += field.size


def _row(layout: Struct, path: str, offset: int, field: Field, parent: Struct) -> str:
    kind = "Integer" if field.type is I32 else "Float"
    alignment, element_bytes, factors = 1, 0, []
    if field.operand:
        kind = camel(field.operand.role.name)
        alignment, element_bytes = field.operand.align, field.operand.element.size
        for factor in field.operand.shape:
            found = [o for name, o, _, _ in _flat(layout) if name == factor or name.startswith(factor + ".")]
            if not found:
                raise ValueError(f"{layout.name}.{path}: there is no field {factor}")
            factors += found
    ranged = field.low is not None
    low, high = (field.low, field.high) if ranged else (0, 0)
    flags = f"{str(ranged).lower()}, {str(bool(parent.values)).lower()}"
    sizes = f"{alignment}, {element_bytes}, {len(factors)}, {{{', '.join(map(str, factors))}}}"
    return f'    {{"{path}", {offset}, FieldKind::k{kind}, {flags}, {low}, {high}, {sizes}}},'


def generate() -> str:
    """The text of the header."""
    tables, rows = [], []
    for opcode in range(max(schema.Opcode) + 1):
        layout = schema.ARGS.get(opcode)
        if layout is None:
            rows.append("    {nullptr, 0, 0},")
            continue
        fields = [_row(layout, *member) for member in _flat(layout)]
        tables += [f"inline constexpr OperatorField k{layout.name}Fields[] = {{", *fields, "};", ""]
        rows.append(f"    {{k{layout.name}Fields, {len(fields)}, {layout.size}}},")
    return _TEXT.format(tables="\n".join(tables), rows="\n".join(rows))


if __name__ == "__main__":
    sys.exit(generated.write(sys.argv, __doc__, generate))
