"""Packets of GDB's remote serial protocol: `$content#checksum`.

The checksum is the sum of the bytes between `$` and `#`, modulo 256, as two hexadecimal digits. Source: "Overview" in
the appendix "GDB Remote Serial Protocol" of GDB's manual.
"""

from __future__ import annotations

_ESCAPE = ord("}")
_REPEAT = ord("*")
_ESCAPED = b"$#}*"  # servers need the last one only in replies, and accept it everywhere


def checksum(content: bytes) -> int:
    return sum(content) & 0xFF


def frame(content: bytes) -> bytes:
    """Returns the packet with `content`, in which binary data is escaped already."""
    return b"$%b#%02x" % (content, checksum(content))


def escape(data: bytes) -> bytes:
    """Returns binary data as it stands in a packet."""
    return b"".join(bytes([_ESCAPE, byte ^ 0x20]) if byte in _ESCAPED else bytes([byte]) for byte in data)


def content_of(raw: bytes) -> bytes:
    """Returns what the bytes between `$` and `#` mean: runs are written out, and escapes undone. ValueError if a run
    repeats nothing, or an escape has nothing after it."""
    expanded = bytearray()
    at = 0
    while at < len(raw):
        if raw[at] != _REPEAT:
            expanded.append(raw[at])
            at += 1
            continue
        if not expanded or at + 1 == len(raw) or raw[at + 1] < 32:
            raise ValueError("a run of characters in it repeats nothing")
        # The count is a printable character: 29 more than how often the character before is repeated.
        expanded += expanded[-1:] * (raw[at + 1] - 29)
        at += 2
    found = bytearray()
    characters = iter(expanded)
    for byte in characters:
        if byte == _ESCAPE:
            escaped = next(characters, None)
            if escaped is None:
                raise ValueError("it ends in the middle of an escaped character")
            byte = escaped ^ 0x20
        found.append(byte)
    return bytes(found)
