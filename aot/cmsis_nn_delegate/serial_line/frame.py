"""Frames on a serial line that may lose, change and add bytes: the other end of runtime/runner/serial/frame.h.

A frame is  flag | type | sequence | data | CRC-32, little-endian | flag, with flags and escapes in between escaped as
in HDLC's asynchronous framing (RFC 1662).
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass

MAX_DATA = 1024  # bytes

_FLAG, _ESCAPE, _ESCAPED_BIT = 0x7E, 0x7D, 0x20
_SMALLEST = 2 + 4  # type, sequence and CRC


@dataclass(frozen=True)
class Frame:
    """`kind` is one character; `sequence` 0 to 255."""

    kind: str
    sequence: int
    data: bytes

    def encode(self) -> bytes:
        """Returns the bytes to send. ValueError if the data are longer than a frame can be."""
        if len(self.data) > MAX_DATA:
            raise ValueError(f"a frame has at most {MAX_DATA} bytes of data, not {len(self.data)}")
        content = bytes([ord(self.kind), self.sequence]) + self.data
        content += struct.pack("<I", zlib.crc32(content))
        for special in (_ESCAPE, _FLAG):  # escapes first, which the other replacement brings too
            content = content.replace(bytes([special]), bytes([_ESCAPE, special ^ _ESCAPED_BIT]))
        return bytes([_FLAG]) + content + bytes([_FLAG])


class FrameReader:
    """Finds the frames in what a line delivers."""

    def __init__(self) -> None:
        self._bytes = bytearray()  # since the last flag, or of the longest frame and one more
        self.damaged = 0  # frames that came and were not whole

    def feed(self, received: bytes) -> Iterator[Frame]:
        """Yields the whole frames that end in `received`."""
        first, *others = received.split(bytes([_FLAG]))
        self._keep(first)
        for part in others:
            frame = self._frame()
            self._bytes.clear()
            if frame is not None:
                yield frame
            self._keep(part)

    def _keep(self, part: bytes) -> None:
        most = 2 * (_SMALLEST + MAX_DATA) + 1  # every byte escaped
        self._bytes += part[: max(0, most - len(self._bytes))]

    def _frame(self) -> Frame | None:
        content, escaped = bytearray(), False
        for byte in self._bytes:
            if byte == _ESCAPE:
                escaped = True
            else:
                content.append(byte ^ _ESCAPED_BIT if escaped else byte)
                escaped = False
        whole = not escaped and _SMALLEST <= len(content) <= _SMALLEST + MAX_DATA
        if whole and zlib.crc32(content[:-4]) == struct.unpack("<I", content[-4:])[0]:
            return Frame(chr(content[0]), content[1], bytes(content[2:-4]))
        self.damaged += bool(self._bytes)
        return None
