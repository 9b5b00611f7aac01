"""Reads the lines with which firmware (platforms/bsp) reports the end of a run on the UART."""

from __future__ import annotations

import re

_EXIT_LINE = re.compile(r"^##EXIT rc=(\d+)##\r?$", re.MULTILINE)
_FAULT_LINE = re.compile(r"^##FAULT ", re.MULTILINE)


def exit_code(text: str) -> int | None:
    """Returns the code in the exit line; None if there is none."""
    line = _EXIT_LINE.search(text)
    return int(line.group(1)) if line else None


def reports_fault(text: str) -> bool:
    """Returns whether the fault handler has run."""
    return _FAULT_LINE.search(text) is not None
