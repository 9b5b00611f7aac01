"""Numbers of bytes as people write them: "2048", "64K", "1M"."""

from __future__ import annotations

import re

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20}
PATTERN = r"\d+[kKmM]?"


def byte_count(text: str) -> int:
    """Returns the bytes that a number stands for, with K for KiB or M for MiB after it, in either case. ValueError for
    anything else."""
    if not re.fullmatch(PATTERN, text, re.ASCII):
        raise ValueError(f"{text!r} is no number of bytes; write 2048, 2K or 1M, for example")
    digits = text.rstrip("kKmM")
    return int(digits) * _UNITS[text[len(digits) :].lower()]
