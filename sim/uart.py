"""What the firmware's own lines on the UART say about the end of a run (platforms/bsp)."""

from __future__ import annotations

import re

_EXIT_LINE = re.compile(r"^##EXIT rc=(\d+)##\r?$", re.MULTILINE)
_FAULT_LINE = re.compile(r"^##FAULT ", re.MULTILINE)


def exit_code(text: str) -> int | None:
    """The code of the exit line; None if there is none."""
    line = _EXIT_LINE.search(text)
    return int(line.group(1)) if line else None


def reports_fault(text: str) -> bool:
    """Whether the fault handler has run."""
    return _FAULT_LINE.search(text) is not None
