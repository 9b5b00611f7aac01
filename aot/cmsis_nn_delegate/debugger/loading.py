"""Brings an image and its data into a board's memory, and makes sure that they are there."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from .error import DebuggerError
from .image import Segment
from .memory_map import Flash, flash_regions
from .server import Server

_FLASH_TIMEOUT_S = 120.0  # to erase many blocks
_PART_BYTES = 1024


def load(server: Server, segments: Sequence[Segment], progress: Callable[[str], None] = lambda line: None) -> None:
    """Loads `segments`: nothing if memory has their bytes already, for example because a tool of the board wrote them.
    Flash of the server's memory map is erased and written in whole blocks, whose other bytes keep their values.

    DebuggerError if the memory then has other bytes.
    """
    missing = [segment for segment in segments if not _holds(server, segment)]
    if not missing:
        return
    document = server.transfer("memory-map") if "qXfer:memory-map:read" in server.features else ""
    flashes = flash_regions(document)
    in_flash = [segment for segment in missing if any(_inside(segment, flash) for flash in flashes)]
    for segment in missing:
        if segment not in in_flash:
            server.write(segment.address, segment.data)
    for flash in flashes:
        _write_flash(server, flash, [segment for segment in in_flash if _inside(segment, flash)], progress)
    for segment in missing:
        verify(server, segment)


def verify(server: Server, segment: Segment) -> None:
    """Reads a segment back. DebuggerError says at which address other bytes are."""
    found = server.read(segment.address, len(segment.data))
    if found == segment.data:
        return
    first = next(i for i, (a, b) in enumerate(zip(found, segment.data)) if a != b)
    raise DebuggerError(
        f"memory was written at {segment.address:#010x} and does not keep it: {segment.address + first:#010x} "
        f"has {found[first]:#04x} in place of {segment.data[first]:#04x}. If this is flash, write the image with the "
        "board's own tool (`pyocd flash`, OpenOCD's `program`) and run again; else link it for memory that is there"
    )


def _holds(server: Server, segment: Segment) -> bool:
    """Returns whether memory has the bytes of a segment already. Reads no further than to the first part that it has
    not."""
    address, data = segment
    parts = ((address + at, data[at : at + _PART_BYTES]) for at in range(0, len(data), _PART_BYTES))
    return all(server.read(at, len(part)) == part for at, part in parts)


def _inside(segment: Segment, flash: Flash) -> bool:
    return flash.start <= segment.address and segment.address + len(segment.data) <= flash.end


def _write_flash(server: Server, flash: Flash, segments: Sequence[Segment], progress: Callable[[str], None]) -> None:
    """Writes `segments`, which lie in `flash`, with all of the blocks that they touch."""
    touched: set[int] = set()
    for segment in segments:
        first = (segment.address - flash.start) // flash.block_bytes
        last = (segment.address + len(segment.data) - 1 - flash.start) // flash.block_bytes
        touched |= set(range(first, last + 1))
    contents: dict[int, bytes] = {}
    for number in sorted(touched):
        start = flash.start + number * flash.block_bytes
        block = bytearray(server.read(start, min(flash.block_bytes, flash.end - start)))
        for address, data in segments:
            low, high = max(address, start), min(address + len(data), start + len(block))
            if low < high:
                block[low - start : high - start] = data[low - address : high - address]
        contents[start] = bytes(block)
    if contents:
        progress(f"writing {len(contents):,} blocks of flash, {sum(map(len, contents.values())):,} bytes")
    for start, content in contents.items():
        server.flash(f"vFlashErase:{start:x},{len(content):x}", None, _FLASH_TIMEOUT_S)
    for start, content in contents.items():
        for at in range(0, len(content), server.flash_bytes):
            part = content[at : at + server.flash_bytes]
            server.flash(f"vFlashWrite:{start + at:x}:", part, _FLASH_TIMEOUT_S)
    if contents:
        server.flash("vFlashDone", None, _FLASH_TIMEOUT_S)
