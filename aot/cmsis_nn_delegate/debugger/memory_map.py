"""The flash of a board, in a GDB server's memory map.

Source: "Memory Map Format" in GDB's manual. A server without a map, such as QEMU's, has no flash that needs commands of
its own.
"""

from __future__ import annotations

import xml.etree.ElementTree as xml
from dataclasses import dataclass

from .error import DebuggerError


@dataclass(frozen=True)
class Flash:
    """Memory that has to be erased in blocks before it is written. All in bytes."""

    start: int
    length: int
    block_bytes: int

    @property
    def end(self) -> int:
        return self.start + self.length


def flash_regions(text: str) -> list[Flash]:
    """Returns the flash in the document `text`; none if it is empty. DebuggerError if it cannot be read."""
    if not text.strip():
        return []
    try:
        found = []
        for memory in xml.fromstring(text).iter("memory"):
            if memory.get("type") != "flash":
                continue
            block = memory.find("property[@name='blocksize']")
            start, length = (int(memory.attrib[name], 0) for name in ("start", "length"))
            block_bytes = int((block.text or "") if block is not None else "", 0)
            if block_bytes <= 0:
                raise ValueError("a flash without blocks")
            found.append(Flash(start, length, block_bytes))
        return found
    except (xml.ParseError, KeyError, ValueError) as error:
        raise DebuggerError(
            f"the memory map of the GDB server cannot be read ({error}): first write the image with the board's tool"
        ) from error
