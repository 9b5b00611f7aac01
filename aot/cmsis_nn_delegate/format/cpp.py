"""Records and enumerations as C++."""

from __future__ import annotations

import enum
import math
import re
import textwrap

from .record import Field, Struct

# Of .clang-format.
_WIDTH = 100


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
    """The definition of `layout`, and the static_assert of its size.

    The size settles every offset: C++ keeps the order of members, and these, which a `Struct` lays out without gaps,
    fill it.
    """
    members = [_member(field) for field in layout.fields]
    # clang-format puts comments behind members in one column.
    column = max(len(member) for member in members) + 2
    lines = comment(layout.doc) + [f"struct {layout.name} {{"]
    for field, member in zip(layout.fields, members):
        if not field.description:
            lines.append(member)
        elif column + len(f"///< {field.description}") <= _WIDTH:
            lines.append(f"{member:{column}}///< {field.description}")
        else:
            lines += [*comment(field.description, "  "), member]
    return [*lines, "};", f'static_assert(sizeof({layout.name}) == {layout.size}, "layout of {layout.name}");', ""]


def _member(field: Field) -> str:
    cpp = field.type.name if isinstance(field.type, Struct) else field.type.cpp
    suffix = f"[{field.count}]" if field.count > 1 else ""
    return f"  {cpp} {field.name}{suffix};"


def enum_lines(enum_class: type[enum.Enum], underlying: str) -> list[str]:
    """The definition of `enum_class` with its values."""
    lines = comment((enum_class.__doc__ or "").partition("\n")[0])
    lines.append(f"enum class {enum_class.__name__} : {underlying} {{")
    lines += [f"  k{camel(item.name)} = {item.value}," for item in enum_class]
    return lines + ["};", ""]
