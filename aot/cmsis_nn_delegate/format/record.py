"""Little-endian records: the small language in which the format and the argument blocks are declared.

Every field is naturally aligned by construction (a `Struct` refuses a gap), so a
C++ struct with the same members in the same order has the same layout and a
payload can be read in place.

The declaration of a field says what it may hold: a number has a range (`low`, `high`), a reference says what it
names (`Operand`). The checks of every call are generated from these declarations.
"""

from __future__ import annotations

import enum
import math
import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Optional, Union

from .element import Element


@dataclass(frozen=True)
class Scalar:
    """A primitive type: its `struct` code, its C++ spelling and its size in bytes. `element` is its name as the element
    type of a tensor, of which `per_byte` share a byte if they are smaller than that."""

    code: str
    cpp: str
    size: int
    element: str = ""
    per_byte: int = 1

    @property
    def align(self) -> int:
        return self.size


def _scalar(element: Element) -> Scalar:
    cpp = f"std::{element.c_type}" if element.is_integer else element.c_type
    return Scalar(element.struct_code, cpp, element.nbytes(1), element.value)


def _packed(element: Element, in_bytes_of: Scalar) -> Scalar:
    """Of elements smaller than a byte, in bytes as C++ has them."""
    per_byte = 8 // element.bits
    return Scalar(in_bytes_of.code, in_bytes_of.cpp, in_bytes_of.size, element.value, per_byte)


I8 = _scalar(Element.INT8)
I4 = _packed(Element.INT4, I8)
U8 = Scalar("B", "std::uint8_t", 1)
I16 = _scalar(Element.INT16)
U16 = Scalar("H", "std::uint16_t", 2)
U32 = Scalar("I", "std::uint32_t", 4)
I32 = _scalar(Element.INT32)
I64 = _scalar(Element.INT64)
F32 = _scalar(Element.FLOAT32)
# Of operands whose elements the kernel does not look at.
BYTES = Scalar("B", "std::uint8_t", 1)
# A location: see `schema.make_ref`.
REF = Scalar("I", "Ref", 4)


class Role(enum.Enum):
    """What a kernel does with the data that a reference names, and where that may lie."""

    INPUT = enum.auto()  # reads activations from the arena, an input, an output or the constants
    FILTER = enum.auto()  # reads weights from the constants
    BIAS = enum.auto()  # reads one number per output channel from the constants
    MULTIPLIER = enum.auto()  # the same, in Q31, 0 or more
    SHIFT = enum.auto()  # the same, to the left if positive, kMinShift to kMaxShift
    OUTPUT = enum.auto()  # writes activations to the arena or an output
    STATE = enum.auto()  # reads and writes the state kept between executions, which starts as zeros
    SCRATCH = enum.auto()  # writes and reads bytes of the arena or an output; a call may need none


@dataclass(frozen=True)
class Operand:
    """The data that a reference names. The product of the fields `shape` is its number of elements.

    A field of `shape` is an integer, or a `Struct` whose integers are multiplied; "dims.c" is a member of a struct.
    """

    role: Role
    element: Scalar
    shape: tuple[str, ...]

    @property
    def align(self) -> int:
        indices = {Role.INPUT: (I32, I64), Role.OUTPUT: (I64,)}
        if self.element in indices.get(self.role, ()):
            return 1  # kernels copy the bytes of an index, because inputs and outputs are only aligned for floats
        return SCRATCH_ALIGNMENT if self.role is Role.SCRATCH else self.element.align

    def nbytes(self, args: Mapping[str, Any]) -> int:
        """Returns its size in the call with the fields `args`, nested structs as mappings."""
        count = 1
        for path in self.shape:
            member: Any = args
            for part in path.split("."):
                member = member[part]
            count *= math.prod(member.values()) if isinstance(member, Mapping) else member
        return -(-count // self.element.per_byte) * self.element.size


SCRATCH_ALIGNMENT = 16


@dataclass(frozen=True)
class Field:
    """One member: `count` > 1 makes it an array.

    `low` and `high` are the inclusive bounds of an integer. `operand` is what a reference names. ValueError if there is
    one bound without the other.
    """

    name: str
    type: Union[Scalar, Struct]
    doc: str = ""
    count: int = 1
    low: Optional[int] = None
    high: Optional[int] = None
    operand: Optional[Operand] = None

    def __post_init__(self) -> None:
        if (self.low is None) != (self.high is None):
            # The generated checks would leave out the bound that is there.
            raise ValueError(f"{self.name} has one bound, from {self.low} to {self.high}: state both")

    @property
    def size(self) -> int:
        return self.type.size * self.count

    @property
    def refers_to(self) -> Operand:
        """Returns the operand of a reference. ValueError for a number."""
        if self.operand is None:
            raise ValueError(f"{self.name} is not a reference")
        return self.operand

    @property
    def description(self) -> str:
        """Returns `doc` with the range."""
        bounds = "" if self.low is None else f"{_power(self.low)} to {_power(self.high)}"
        return ", ".join(part for part in (self.doc, bounds) if part)


def _power(value: Optional[int]) -> str:
    return "2^31 - 1" if value == 2**31 - 1 else str(value)


@dataclass(frozen=True)
class Struct:
    """A record: members without gaps, in declaration order.

    `geometry` and `values` name C++ functions that check what the ranges of single fields cannot express
    (runtime/payload/geometry.h, values.h). `geometry` runs before the sizes of operands are computed from the fields,
    `values` once all references are known to be good.
    """

    name: str
    doc: str
    fields: tuple[Field, ...]
    geometry: str = ""
    values: str = ""

    def __post_init__(self) -> None:
        offset = 0
        for field in self.fields:
            if offset % field.type.align:
                raise ValueError(
                    f"{self.name}.{field.name} would start at {offset}, "
                    f"not a multiple of {field.type.align}: reorder the fields or pad"
                )
            offset += field.size
        if offset % self.align:
            raise ValueError(f"{self.name} has {offset} bytes, not a multiple of {self.align}")

    @property
    def align(self) -> int:
        return max(field.type.align for field in self.fields)

    @property
    def size(self) -> int:
        return sum(field.size for field in self.fields)

    def members(self, path: str = "") -> Iterator[tuple[str, Field]]:
        """Yields (path, field) of every scalar; "params.stride.w" lies in a nested struct."""
        for field in self.fields:
            if isinstance(field.type, Struct):
                yield from field.type.members(f"{path}{field.name}.")
            else:
                yield path + field.name, field

    def names_of(self, role: Role) -> tuple[str, ...]:
        """Returns the names of the references of this role, in order."""
        return self._names_by_role.get(role, ())

    @cached_property
    def _names_by_role(self) -> Mapping[Role, tuple[str, ...]]:
        roles = {field.operand.role for field in self.fields if field.operand}
        return {
            role: tuple(field.name for field in self.fields if field.operand and field.operand.role is role)
            for role in roles
        }

    def field(self, name: str) -> Field:
        """Returns the field called `name`. KeyError if there is none."""
        found = self._fields_by_name.get(name)
        if found is None:
            raise KeyError(f"{self.name} has no field {name}")
        return found

    @cached_property
    def _fields_by_name(self) -> Mapping[str, Field]:
        return {field.name: field for field in self.fields}

    def offset_of(self, name: str) -> int:
        offset = 0
        for field in self.fields:
            if field.name == name:
                return offset
            offset += field.size
        raise KeyError(f"{self.name} has no field {name}")

    def pack(self, values: Mapping[str, Any]) -> bytes:
        """Encodes `values`; a missing or unknown name, or a value out of range, is an error."""
        unknown = set(values) - {field.name for field in self.fields}
        if unknown:
            raise KeyError(f"{self.name} has no field {', '.join(sorted(unknown))}")
        out = bytearray()
        for field in self.fields:
            if field.name not in values:
                raise KeyError(f"{self.name}.{field.name} is missing")
            value = values[field.name]
            items = value if field.count > 1 else (value,)
            if len(items) != field.count:
                raise ValueError(f"{self.name}.{field.name} takes {field.count} values, not {len(items)}")
            for item in items:
                if isinstance(field.type, Struct):
                    out += field.type.pack(item)
                    continue
                try:
                    out += struct.pack("<" + field.type.code, item)
                except struct.error as error:
                    raise ValueError(f"{self.name}.{field.name}: {item!r}: {error}") from error
        return bytes(out)

    def unpack(self, data: bytes, offset: int = 0) -> dict[str, Any]:
        """The inverse of `pack`, reading at `offset` of `data`."""
        values: dict[str, Any] = {}
        for field in self.fields:
            items = []
            for _ in range(field.count):
                if isinstance(field.type, Struct):
                    items.append(field.type.unpack(data, offset))
                else:
                    items.append(struct.unpack_from("<" + field.type.code, data, offset)[0])
                offset += field.type.size
            values[field.name] = tuple(items) if field.count > 1 else items[0]
        return values
