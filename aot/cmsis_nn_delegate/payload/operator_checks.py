"""Generates runtime/payload/operators.h and operators.cc from `schema`: the checks of each operator's calls.

    python -m cmsis_nn_delegate.payload.operator_checks HEADER SOURCE

A check follows from what the fields are declared to hold; what no declaration says is in the hand-written
functions that they name, in runtime/payload/geometry.h and values.h.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Optional

from . import generated, schema
from .cpp_header import camel
from .layout import Field, Operand, Role, Struct

_HEADER = """\
// Generated from aot/cmsis_nn_delegate/payload/schema.py. Do not edit.
//
// The operators of the format, each with the check of its calls. Kernels name their operator, so that an
// image links the checks of its kernels and no others.
#pragma once

#include <cstdint>

#include "runtime/payload/format.h"

namespace cmsis_nn_delegate {{

class CallCheck;

/// What the loader has to know of an operator.
struct Operator {{
  payload::Opcode opcode;
  /// Size of its argument block.
  std::uint16_t args_bytes;
  /// Whether a call, of which `args` is the argument block, keeps what format.h says of its fields. The first
  /// thing that is wrong is logged.
  bool (*check)(const CallCheck& call, const void* args);
}};

namespace operators {{

{operators}
}}  // namespace operators

/// All of them, in the order of their opcodes.
inline constexpr Operator kOperators[] = {{
{names}
}};

}}  // namespace cmsis_nn_delegate
"""

_SOURCE = """\
// Generated from aot/cmsis_nn_delegate/payload/schema.py. Do not edit.
#include "runtime/payload/operators.h"

#include "runtime/payload/call_check.h"
#include "runtime/payload/geometry.h"
#include "runtime/payload/values.h"

namespace cmsis_nn_delegate {{
namespace operators {{

using bounds::in_range;
using bounds::volume;

{checks}
}}  // namespace operators
}}  // namespace cmsis_nn_delegate
"""

_PARAMETERS = (Role.BIAS, Role.MULTIPLIER, Role.SHIFT)


def generate_header() -> str:
    """The text of operators.h."""
    operators, names = [], []
    for opcode, layout in sorted(schema.ARGS.items()):
        name = camel(opcode.name)
        operators += [
            f"bool check_{opcode.name.lower()}(const CallCheck& call, const void* args);",
            f"inline constexpr Operator k{name} = {{",
            f"    payload::Opcode::k{name}, sizeof(payload::{layout.name}), check_{opcode.name.lower()}}};",
            "",
        ]
        names.append(f"    operators::k{name},")
    return _HEADER.format(operators="\n".join(operators), names="\n".join(names))


def generate_source() -> str:
    """The text of operators.cc."""
    checks = (_check(opcode.name.lower(), layout) for opcode, layout in sorted(schema.ARGS.items()))
    return _SOURCE.format(checks="\n".join(checks))


def _check(name: str, layout: Struct) -> str:
    """The function that checks calls of one operator."""
    lines = [
        f"bool check_{name}(const CallCheck& call, const void* args) {{",
        f"  const auto& a = *static_cast<const payload::{layout.name}*>(args);",
    ]
    if layout.geometry:
        # First: the sizes below are products of dimensions in range.
        lines += [f"  if (!geometry::{layout.geometry}(call, a)) {{", "    return false;", "  }"]
    inputs = list(_operands(layout, Role.INPUT))
    (output,) = _operands(layout, Role.OUTPUT)
    lines += [f"  const CallCheck::Bytes {f.name} = {_bytes(f)};" for f in (*inputs, output)]
    terms = [f"call.reads({f.name}{_alignment(f.operand)})" for f in inputs]
    terms += [f"call.filter({_bytes(f)})" for f in _operands(layout, Role.FILTER)]
    terms += _parameters(layout)
    terms += _ranges(layout)
    if layout.values:
        terms.append(f"values::{layout.values}(call, a)")
    terms.append(f"call.writes({output.name}{_alignment(output.operand)})")
    terms += [f"call.apart({f.name}, {output.name})" for f in inputs]
    scratch = next(_operands(layout, Role.SCRATCH), None)
    if scratch is not None:
        (read,) = inputs
        terms.append(f"call.scratch({_bytes(scratch)}, {read.name}, {output.name})")
    terms.append("call.accepted()")
    if scratch is not None:
        terms.append(f"call.scratch_suffices(a.{scratch.operand.shape[0]})")
    return "\n".join([*lines, "  return " + " &&\n         ".join(terms) + ";", "}", ""])


def _operands(layout: Struct, *roles: Role) -> Iterator[Field]:
    return (field for _, field in layout.members() if field.operand and field.operand.role in roles)


def _parameters(layout: Struct) -> list[str]:
    """The checks of the numbers per output channel."""
    fields = list(_operands(layout, *_PARAMETERS))
    if not fields:
        return []
    (channels,) = {field.operand.shape for field in fields}
    terms = [f"call.parameters({{{', '.join(f'a.{field.name}' for field in fields)}}}, {_volume(channels)})"]
    by_role = {field.operand.role: field.name for field in fields}
    if Role.MULTIPLIER in by_role:
        multiplier, shift = by_role[Role.MULTIPLIER], by_role[Role.SHIFT]
        terms.append(f"call.multipliers(a.{multiplier}, a.{shift}, a.{channels[0]})")
    return terms


def _ranges(layout: Struct) -> list[str]:
    """The checks of numbers, and of structs that have a function for theirs."""
    ranges, functions = [], []
    for path, field in _ranged(layout):
        if isinstance(field.type, Struct):
            functions.append(f"values::{field.type.values}(call, a.{path})")
        else:
            high = "INT32_MAX" if field.high == 2**31 - 1 else field.high
            ranges.append(f"in_range(a.{path}, {field.low}, {high})")
    if not ranges:
        return functions
    conditions = " &&\n                          ".join(ranges)
    return [f"call.in_ranges({conditions})".replace("                          ", " " * 24), *functions]


def _ranged(layout: Struct, path: str = "") -> Iterator[tuple[str, Field]]:
    for field in layout.fields:
        inner: Optional[Struct] = field.type if isinstance(field.type, Struct) else None
        if (inner and inner.values) or field.low is not None:
            yield path + field.name, field
        elif inner:
            yield from _ranged(inner, f"{path}{field.name}.")


def _volume(shape: tuple[str, ...]) -> str:
    return f"volume({', '.join(f'a.{path}' for path in shape)})"


def _bytes(field: Field) -> str:
    """A reference with the number of bytes that it names."""
    size = _volume(field.operand.shape)
    if field.operand.element.size > 1:
        size = f"bounds::product({size}, {field.operand.element.size})"
    return f"{{a.{field.name}, {size}}}"


def _alignment(operand: Operand) -> str:
    return ", bounds::kWordAligned" if operand.align == 4 else ""


if __name__ == "__main__":
    sys.exit(generated.write(sys.argv, __doc__, generate_header, generate_source))
