"""Generates runtime/payload/format.h from `schema`.

Usage:

    python -m cmsis_nn_delegate.payload.cpp_header OUTPUT
"""

from __future__ import annotations

import re
import sys
import textwrap

from . import generated, schema
from .layout import Struct

_BANNER = """\
// Generated from aot/cmsis_nn_delegate/payload/schema.py. Do not edit.
//
// The payload format: see that file for what a payload is.
#pragma once

#include <cstddef>
#include <cstdint>

namespace cmsis_nn_delegate {
namespace payload {
"""


def camel(name: str) -> str:
    return "".join(part.capitalize() for part in re.sub(r"(?<=[A-Z])(?=\d)", "", name).lower().split("_"))


def _comment(text: str, indent: str = "") -> list[str]:
    return textwrap.wrap(text, width=92, initial_indent=f"{indent}/// ", subsequent_indent=f"{indent}/// ")


def struct_lines(layout: Struct) -> list[str]:
    """The definition of `layout` and the static_asserts of its size and offsets."""
    lines = _comment(layout.doc) + [f"struct {layout.name} {{"]
    for field in layout.fields:
        if field.description:
            lines += _comment(field.description, "  ")
        cpp = field.type.name if isinstance(field.type, Struct) else field.type.cpp
        suffix = f"[{field.count}]" if field.count > 1 else ""
        lines.append(f"  {cpp} {field.name}{suffix};")
    lines.append("};")
    lines.append(f'static_assert(sizeof({layout.name}) == {layout.size}, "layout of {layout.name}");')
    for field in layout.fields:
        lines.append(
            f"static_assert(offsetof({layout.name}, {field.name}) == {layout.offset_of(field.name)},"
            f' "layout of {layout.name}");'
        )
    return lines + [""]


def _enum(enum_class, underlying: str) -> list[str]:
    lines = _comment(enum_class.__doc__.splitlines()[0])
    lines.append(f"enum class {enum_class.__name__} : {underlying} {{")
    lines += [f"  k{camel(item.name)} = {item.value}," for item in enum_class]
    return lines + ["};", ""]


def _reads_behind() -> list[str]:
    lines = _comment(" ".join(schema.ReadsBehind.__doc__.split()))
    lines += ["struct ReadsBehind {"]
    lines += [f"  std::uint8_t {name};" for name in schema.ReadsBehind._fields]
    lines += ["};", ""]
    lines += _comment("What the kernel for `opcode` may load behind its constants.")
    lines += ["constexpr ReadsBehind reads_behind(Isa isa, Opcode opcode) {"]
    for (isa, opcode), behind in schema.READS_BEHIND.items():
        condition = f"isa == Isa::k{camel(isa.name)} && opcode == Opcode::k{camel(opcode.name)}"
        lines += [f"  if ({condition}) {{", f"    return {{{', '.join(map(str, behind))}}};", "  }"]
    return lines + ["  return {0, 0};", "}", ""]


def generate() -> str:
    """The text of the header."""
    constants = {
        "kMagic": ("std::uint32_t", f"0x{schema.MAGIC:08x}"),
        "kFormatVersion": ("std::uint16_t", schema.FORMAT_VERSION),
        "kKernelRevision": ("std::uint32_t", f"0x{schema.KERNEL_REVISION:08x}"),
        "kAlignment": ("std::size_t", schema.ALIGNMENT),
        "kMaxRank": ("std::size_t", schema.MAX_RANK),
        "kMaxDim": ("std::int32_t", schema.MAX_DIM),
        "kMinShift": ("std::int32_t", schema.MIN_SHIFT),
        "kMaxShift": ("std::int32_t", schema.MAX_SHIFT),
        "kMaxSoftmaxDifference": ("std::int32_t", schema.MAX_SOFTMAX_DIFFERENCE),
        "kRefOffsetBits": ("unsigned", schema.REF_OFFSET_BITS),
        "kMaxRefOffset": ("std::uint32_t", f"0x{schema.MAX_REF_OFFSET:08x}"),
        "kBaseArena": ("unsigned", schema.BASE_ARENA),
        "kBaseConstant": ("unsigned", schema.BASE_CONSTANT),
        "kBaseIo": ("unsigned", schema.BASE_IO),
        "kBaseNone": ("unsigned", schema.BASE_NONE),
        "kBaseCount": ("unsigned", schema.BASE_COUNT),
        "kMaxIo": ("unsigned", schema.MAX_IO),
        "kNoArenaOffset": ("std::uint32_t", f"0x{schema.NO_ARENA_OFFSET:08x}"),
        "kOpcodeCount": ("std::size_t", max(schema.Opcode) + 1),
    }
    lines = ["", "/// A location: base in the upper 4 bits, byte offset from that base in the lower 28."]
    lines += ["using Ref = std::uint32_t;", ""]
    for name, (cpp_type, value) in constants.items():
        lines.append(f"inline constexpr {cpp_type} {name} = {value};")
    lines.append(f"inline constexpr Ref kNoRef = 0x{schema.NO_REF:08x};")
    lines.append(f'inline constexpr char kCmsisNnCommit[] = "{schema.CMSIS_NN_COMMIT}";')
    lines.append("")
    lines += _enum(schema.Isa, "std::uint8_t")
    lines += _enum(schema.DType, "std::uint8_t")
    lines += _enum(schema.Opcode, "std::uint16_t")
    structs = (schema.HEADER, schema.IO_TENSOR, *schema.PARAMETER_BLOCKS, schema.CALL_HEADER)
    for layout in (*structs, *schema.ARGS.values()):
        lines += struct_lines(layout)
    lines += _reads_behind()
    lines += ["}  // namespace payload", "}  // namespace cmsis_nn_delegate", ""]
    return _BANNER + "\n".join(lines)


if __name__ == "__main__":
    sys.exit(generated.write(sys.argv, __doc__, generate))
