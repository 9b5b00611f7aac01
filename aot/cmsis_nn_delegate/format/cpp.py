"""Records and enumerations as C++."""

from __future__ import annotations

import enum
import math
import re
import textwrap

from .record import Struct


def camel(name: str) -> str:
    """'AVG_POOL2D' or 'avg_pool2d' as 'AvgPool2d'."""
    return "".join(part.capitalize() for part in re.sub(r"(?<=[A-Z])(?=\d)", "", name).lower().split("_"))


def comment(text: str, indent: str = "") -> list[str]:
    """`text` as the lines of a documentation comment."""
    return textwrap.wrap(text, width=92, initial_indent=f"{indent}/// ", subsequent_indent=f"{indent}/// ")


def float_literal(x: float) -> str:
    """Returns a decimal literal of C that reads back as the same float32. ValueError for NaN and infinity."""
    if not math.isfinite(x):
        raise ValueError(f"{x} has no literal")
    text = f"{x:.9g}"
    return text + ("f" if re.search(r"[.e]", text) else ".0f")


def integer_literal(x: int) -> str:
    """Returns a literal of C for an integer of at most 64 bits, whose type is as large as it has to be."""
    # A minus before 2147483648 would be a 64-bit number.
    return {-(1 << 31): "INT32_MIN", -(1 << 63): "INT64_MIN"}.get(x, str(x))


def struct_lines(layout: Struct) -> list[str]:
    """The definition of `layout` and the static_asserts of its size and offsets."""
    lines = comment(layout.doc) + [f"struct {layout.name} {{"]
    for field in layout.fields:
        if field.description:
            lines += comment(field.description, "  ")
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


def enum_lines(enum_class: type[enum.Enum], underlying: str) -> list[str]:
    """The definition of `enum_class` with its values."""
    lines = comment((enum_class.__doc__ or "").partition("\n")[0])
    lines.append(f"enum class {enum_class.__name__} : {underlying} {{")
    lines += [f"  k{camel(item.name)} = {item.value}," for item in enum_class]
    return lines + ["};", ""]
