"""A firmware image as a debugger needs it: what to load where, and symbols.

Only ELF files of 32 bits in little-endian order, which is what Cortex-M has. The driver of the simulators reads such
files too (sim/elf.py); it is no part of this package, and needs no segments.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, Union

from ..support.errors import UserError, require_file

_HEADER = struct.Struct("<16sHHIIIIIHHHHHH")
_SEGMENT = struct.Struct("<IIIIIIII")
_SECTION = struct.Struct("<IIIIIIIIII")
_SYMBOL = struct.Struct("<IIIBBH")
_PT_LOAD = 1
_SHT_SYMTAB = 2


class Segment(NamedTuple):
    """Bytes that have to be at `address` before the image starts: in flash, if the image runs from there."""

    address: int
    data: bytes


class Symbol(NamedTuple):
    """`address` is that of the first instruction of a function, without the bit for Thumb."""

    address: int
    size: int


class Image:
    """An image that was linked for one board. UserError if the file is no such image."""

    def __init__(self, path: Union[str, Path]) -> None:
        self.path = Path(path)
        require_file(self.path, "firmware image ")
        data = self.path.read_bytes()
        if data[:6] != b"\x7fELF\x01\x01" or len(data) < _HEADER.size:
            raise UserError(f"{self.path} is not a 32-bit little-endian ELF file: give the .elf of the firmware")
        try:
            self.segments = list(_segments(data))
            self.symbols = dict(_symbols(data))
        except (struct.error, IndexError, ValueError) as error:
            raise UserError(f"{self.path} is truncated: build the firmware again") from error

    def address(self, symbol: str) -> int:
        """Returns the address of `symbol`; UserError if the image does not have it."""
        if symbol not in self.symbols:
            raise UserError(
                f"{self.path} has no symbol {symbol}: give a runner, such as //runtime:cortex_m4, with its symbols"
            )
        return self.symbols[symbol].address

    def bytes_at(self, address: int, size: int) -> bytes:
        """Returns bytes that are loaded; UserError if they are not."""
        for start, data in self.segments:
            if start <= address and address + size <= start + len(data):
                return data[address - start : address - start + size]
        raise UserError(f"{self.path} has no contents at {address:#010x}: give a runner, such as //runtime:cortex_m4")

    def text(self, symbol: str) -> str:
        """Returns the NUL-terminated text at `symbol`."""
        address = self.address(symbol)
        return self.bytes_at(address, self.symbols[symbol].size).split(b"\0")[0].decode("ascii", "replace")

    def place_of(self, address: int) -> str:
        """Returns an address with the function that it is in, for messages."""
        for name, (start, size) in self.symbols.items():
            if start <= address < start + size:
                return f"{address:#010x} in {name}"
        return f"{address:#010x}"


def _segments(data: bytes) -> Iterator[Segment]:
    header = _HEADER.unpack_from(data)
    for number in range(header[10]):
        kind, offset, _, physical, size, *_ = _SEGMENT.unpack_from(data, header[5] + number * header[9])
        if kind == _PT_LOAD and size:
            if offset + size > len(data):
                raise ValueError("a segment ends after the file")
            yield Segment(physical, data[offset : offset + size])


def _symbols(data: bytes) -> Iterator[tuple[str, Symbol]]:
    header = _HEADER.unpack_from(data)
    sections = [_SECTION.unpack_from(data, header[6] + number * header[11]) for number in range(header[12])]
    for _, kind, _, _, offset, size, link, *_ in sections:
        if kind != _SHT_SYMTAB:
            continue
        for at in range(offset, offset + size, _SYMBOL.size):
            name, value, length, info, *_ = _SYMBOL.unpack_from(data, at)
            start = sections[link][4] + name
            text = data[start : data.index(b"\0", start)].decode("ascii", "replace")
            if text:
                function = info & 15 == 2
                yield text, Symbol(value & ~1 if function else value, length)
