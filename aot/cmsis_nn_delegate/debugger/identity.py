"""What is behind a GDB server: which program it is, and whether it simulates."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .server import Server

# How the answers of servers to `monitor version` begin, or what is in them.
_BOARD_SERVERS = ("Open On-Chip Debugger", "OpenOCD", "pyOCD", "probe-rs", "SEGGER")


@dataclass(frozen=True)
class Identity:
    """`name` is "" if the server does not say who it is. It may then be a simulator too."""

    name: str
    simulates: bool


def identify(server: Server) -> Identity:
    """Asks the server who it is, with what QEMU and Renode answer and servers of boards do not."""
    if server.ask(b"qqemu.sstepbits").startswith(b"ENABLE"):
        version = _first_line(server.monitor("info version"))
        number = re.match(r"[\d.]+", version)
        return Identity(f"QEMU {number[0]}" if number else "QEMU", True)
    answer = _first_line(server.monitor("version"))
    if "Renode" in answer:
        return Identity(answer.replace("Renode, version", "Renode"), True)
    known = any(name.lower() in answer.lower() for name in _BOARD_SERVERS)
    return Identity(answer if known else "", False)


def _first_line(text: str | None) -> str:
    lines = [line.strip() for line in (text or "").splitlines() if line.strip()]
    return lines[0] if lines else ""
