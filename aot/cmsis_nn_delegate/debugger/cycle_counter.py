"""The cycle counter of the core, DWT_CYCCNT.

It counts the cycles of the core's clock while the core is not halted, with 32 bits. Addresses and bits: "Data
Watchpoint and Trace unit" in Arm's architecture manuals. Armv6-M and Armv8-M Baseline have no such counter, a chip may
lack it, and simulators may not have it or count something else.
"""

from __future__ import annotations

from typing import Optional

from .error import DebuggerError
from .server import Server

_DEMCR, _TRCENA = 0xE000EDFC, 1 << 24
_CTRL, _CYCCNTENA, _NOCYCCNT = 0xE0001000, 1 << 0, 1 << 25
_CYCCNT = 0xE0001004
_LOCK, _KEY = 0xE0001FB0, 0xC5ACCE55  # the Cortex-M7's; others ignore it

_WITHOUT = ("cortex-m0", "cortex-m0plus", "cortex-m23")


class NoCounter(Exception):
    """Why there is none."""


def start(server: Server, core: str) -> None:
    """Switches the counter on. Raises NoCounter, with the reason, if there is none."""
    if core in _WITHOUT:
        raise NoCounter(f"a {core} has no cycle counter")
    problem: Optional[str] = None
    try:
        server.write_word(_DEMCR, server.read_word(_DEMCR) | _TRCENA)
        if not server.read_word(_DEMCR) & _TRCENA:
            problem = "the trace unit, which has the cycle counter, cannot be switched on"
        elif server.read_word(_CTRL) & _NOCYCCNT:
            problem = "this chip has no cycle counter"
        else:
            server.write_word(_LOCK, _KEY)
            server.write_word(_CTRL, server.read_word(_CTRL) | _CYCCNTENA)
            if not server.read_word(_CTRL) & _CYCCNTENA:
                problem = "the cycle counter cannot be switched on"
    except DebuggerError as error:
        problem = f"the cycle counter cannot be accessed: {error}"
    if problem:
        raise NoCounter(problem)


def read(server: Server) -> int:
    """Returns the count, modulo 2**32."""
    return server.read_word(_CYCCNT)
