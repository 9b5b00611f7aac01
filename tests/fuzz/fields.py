"""Generates fields.h, the members of every argument block as a table, from the payload's schema.

    python -m tests.fuzz.fields OUTPUT
"""

from __future__ import annotations

import sys
from typing import Iterator

from cmsis_nn_delegate.payload import schema
from cmsis_nn_delegate.payload.layout import F32, REF, Struct

_TEXT = """\
// Generated from aot/cmsis_nn_delegate/payload/schema.py. Do not edit.
#pragma once

#include <cstdint>

#include "runtime/payload/format.h"

namespace cmsis_nn_delegate {{
namespace fuzz {{

enum class FieldKind : std::uint8_t {{ kReference, kInteger, kFloat }};

/// A member of 4 bytes of an argument block; nested structs are taken apart.
struct Field {{
  std::uint16_t offset;
  FieldKind kind;
}};

struct Fields {{
  const Field* fields;
  std::uint16_t count;
}};

{tables}
/// By opcode.
inline constexpr Fields kFields[payload::kOpcodeCount] = {{
{rows}
}};

}}  // namespace fuzz
}}  // namespace cmsis_nn_delegate
"""


def members(layout: Struct, start: int = 0) -> Iterator[tuple[str, int, str]]:
    """(name, offset, FieldKind) of every scalar of `layout`."""
    offset = start
    for field in layout.fields:
        for index in range(field.count):
            at = offset + index * field.type.size
            if isinstance(field.type, Struct):
                yield from ((f"{field.name}.{name}", o, kind) for name, o, kind in members(field.type, at))
            elif field.type.size != 4:
                raise ValueError(f"{layout.name}.{field.name} has {field.type.size} bytes, only 4 are handled")
            else:
                kind = {REF: "kReference", F32: "kFloat"}.get(field.type, "kInteger")
                yield field.name, at, kind
        offset += field.size


def generate() -> str:
    tables, rows = [], []
    for opcode in range(max(schema.Opcode) + 1):
        layout = schema.ARGS.get(opcode)
        if layout is None:
            rows.append("    {nullptr, 0},")
            continue
        fields = list(members(layout))
        tables.append(f"inline constexpr Field k{layout.name}[] = {{")
        tables += [f"    {{{offset}, FieldKind::{kind}}},  // {name}" for name, offset, kind in fields]
        tables += ["};", ""]
        rows.append(f"    {{k{layout.name}, {len(fields)}}},")
    return _TEXT.format(tables="\n".join(tables), rows="\n".join(rows))


def main(argv: list[str]) -> int:
    if len(argv) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    with open(argv[1], "w", encoding="utf-8", newline="\n") as out:
        out.write(generate())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv))
