"""Reads symbols and their bytes from a 32-bit little-endian ELF file, for simulator drivers.

Simulators run with the system's Python and its standard library (`stdlib_py_binary`), so pyelftools is no choice. With
it this would be some 25 lines shorter.
"""

from __future__ import annotations

import pathlib
import struct
from collections.abc import Iterator

_HEADER = struct.Struct("<16sHHIIIIIHHHHHH")
_SECTION = struct.Struct("<IIIIIIIIII")
_SEGMENT = struct.Struct("<IIIIIIII")
_SYMBOL = struct.Struct("<IIIBBH")
_PT_LOAD = 1
_SHT_SYMTAB = 2
_SHT_NOBITS = 8
_SHF_WRITE = 1
_SHF_ALLOC = 2
_SHF_EXECINSTR = 4


class ElfError(ValueError):
    """This module cannot read the file as a firmware image."""


class Elf:
    """The section headers and the symbol table of an image."""

    def __init__(self, path: str | pathlib.Path) -> None:
        self.path = pathlib.Path(path)
        try:
            self._data = self.path.read_bytes()
        except OSError as error:
            raise ElfError(f"cannot read the firmware image {self.path}: {error.strerror}") from error
        if self._data[:6] != b"\x7fELF\x01\x01" or len(self._data) < _HEADER.size:
            raise ElfError(f"{self.path} is not a 32-bit little-endian ELF file")
        header = _HEADER.unpack_from(self._data)
        section_offset, section_size, section_count = header[6], header[11], header[12]
        try:
            self._sections = [
                _SECTION.unpack_from(self._data, section_offset + i * section_size) for i in range(section_count)
            ]
            self._symbols = dict(self._read_symbols())
        except struct.error as error:
            raise ElfError(f"{self.path} is truncated") from error

    def _read_symbols(self) -> Iterator[tuple[str, tuple[int, int]]]:
        for section in self._sections:
            _, kind, _, _, offset, size, link, *_ = section
            if kind != _SHT_SYMTAB:
                continue
            strings = self._sections[link][4]
            for position in range(offset, offset + size, _SYMBOL.size):
                name, value, symbol_size, *_ = _SYMBOL.unpack_from(self._data, position)
                if name:
                    end = self._data.index(b"\0", strings + name)
                    yield self._data[strings + name : end].decode("ascii", "replace"), (value, symbol_size)

    def address(self, symbol: str) -> int:
        """Returns the value of `symbol`; ElfError if the image does not have it."""
        if symbol not in self._symbols:
            raise ElfError(f"{self.path} has no symbol {symbol}: was it built with //platforms/bsp?")
        return self._symbols[symbol][0]

    def string(self, symbol: str) -> str:
        """Returns the NUL-terminated text at `symbol`."""
        address = self.address(symbol)
        for _, kind, _, start, offset, size, *_ in self._sections:
            if start <= address < start + size and kind != _SHT_NOBITS and start:
                begin = offset + address - start
                return self._data[begin : self._data.index(b"\0", begin)].decode("ascii", "replace")
        raise ElfError(f"{self.path}: {symbol} is not in the image's data")

    def read_only_ranges(self) -> list[tuple[int, int]]:
        """Returns the addresses of code and constants: each begin, and the address after it, in ascending order.
        Sections less than 32 bytes apart are one range."""
        ranges: list[tuple[int, int]] = []
        for _, kind, flags, start, _, size, *_ in sorted(self._sections, key=lambda section: section[3]):
            if flags & (_SHF_ALLOC | _SHF_WRITE) != _SHF_ALLOC or kind == _SHT_NOBITS or not size:
                continue
            if ranges and start - ranges[-1][1] < 32:
                ranges[-1] = (ranges[-1][0], max(ranges[-1][1], start + size))
            else:
                ranges.append((start, start + size))
        return ranges

    def loaded(self) -> bytes:
        """Returns an ELF file with what the image puts into memory, without its sections and symbols."""
        header = list(_HEADER.unpack_from(self._data))
        _, *_, first, _, _, _, size, count, _, _, _ = header
        segments = [_SEGMENT.unpack_from(self._data, first + i * size) for i in range(count)]
        segments = [segment for segment in segments if segment[0] == _PT_LOAD]
        table, contents = bytearray(), bytearray()
        start = _HEADER.size + len(segments) * _SEGMENT.size
        for kind, offset, *rest in segments:
            table += _SEGMENT.pack(kind, start + len(contents), *rest)
            contents += self._data[offset : offset + rest[2]]
        header[5], header[6] = _HEADER.size, 0
        header[9:] = _SEGMENT.size, len(segments), 0, 0, 0
        return _HEADER.pack(*header) + table + contents

    def code_addresses(self, halfword: int) -> list[int]:
        """Returns all even addresses in code that contain `halfword`: an instruction with this encoding, the
        second half of a longer one, or data among the code."""
        wanted = halfword.to_bytes(2, "little")
        found = []
        for _, kind, flags, start, offset, size, *_ in self._sections:
            if not flags & _SHF_EXECINSTR or kind == _SHT_NOBITS:
                continue
            code = self._data[offset : offset + size]
            at = code.find(wanted)
            while at >= 0:
                if at % 2 == 0:
                    found.append(start + at)
                at = code.find(wanted, at + 1)
        return sorted(found)
