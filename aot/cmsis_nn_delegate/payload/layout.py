"""Little-endian record layouts: the small vocabulary in which `schema` is written.

Every field is naturally aligned by construction (a `Struct` refuses a gap), so a
C++ struct with the same members in the same order has the same layout and a
payload can be read in place.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from typing import Any, Mapping, Union


@dataclass(frozen=True)
class Scalar:
    """A primitive type: its `struct` code, its C++ spelling and its size in bytes."""

    code: str
    cpp: str
    size: int

    @property
    def align(self) -> int:
        return self.size


U8 = Scalar("B", "std::uint8_t", 1)
U16 = Scalar("H", "std::uint16_t", 2)
U32 = Scalar("I", "std::uint32_t", 4)
I32 = Scalar("i", "std::int32_t", 4)
F32 = Scalar("f", "float", 4)
# A location: see `schema.make_ref`.
REF = Scalar("I", "Ref", 4)


@dataclass(frozen=True)
class Field:
    """One member: `count` > 1 makes it an array."""

    name: str
    type: Union[Scalar, "Struct"]
    doc: str = ""
    count: int = 1

    @property
    def size(self) -> int:
        return self.type.size * self.count


@dataclass(frozen=True)
class Struct:
    """A record: members without gaps, in declaration order."""

    name: str
    doc: str
    fields: tuple[Field, ...]

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
