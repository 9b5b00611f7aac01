"""Runs a runner's image behind a GDB server, without its UART.

The image is the one that the simulators run: it takes a job from its mailbox and reports in lines on its UART. Here the
functions of the report are replaced. The core stops where they begin, this program takes their arguments from registers
and memory, and the core goes on where they would return to:

    bsp_write(data, size)             everything that the firmware prints, also about a fault and its end
    Line::data_field(key, data, size) bytes of a tensor, which would be printed two digits at a time

The cycle counter is read at the two markers (platforms/bsp/mark.h) around an inference, which are instructions that do
nothing and are skipped. So no instruction has a breakpoint and is executed: servers differ in how that is done.
"""

from __future__ import annotations

import re
import time
from dataclasses import dataclass

from . import cycle_counter
from .error import DebuggerError
from .image import Image
from .server import LR, PC, Server

_WRITE = "bsp_write"
_DATA_FIELD = "_ZN17cmsis_nn_delegate6runner4Line10data_fieldEPKcPKhj"
_FAULT_HANDLER = "Fault_Handler"
_MEASURED = re.compile("MeasuredBackend7executeE")
_MARK_BEGIN, _MARK_END = b"\xc9\x46", b"\xd2\x46"  # mov r9, r9 and mov r10, r10
_MARK_BYTES = 2
_EXIT_BYTES = 32  # at least the line with the end, which is the last one
_LONGEST_KEY = 32
_SECOND_REPORT_S = 3.0
_EXIT = re.compile(r"^##EXIT rc=\d+##\r?$", re.MULTILINE)


@dataclass(frozen=True)
class Execution:
    """What an image reported, as on its UART, and the cycles of each inference, modulo 2**32, if they were counted."""

    report: str
    cycles: list[int]


def markers_of(image: Image) -> tuple[int, int] | None:
    """Returns the addresses of the markers around an inference; None if `image` has not exactly one pair."""
    for name, (start, size) in image.symbols.items():
        if not _MEASURED.search(name):
            continue
        code = image.bytes_at(start, size)
        begins, ends = (
            [start + at for at in range(0, size, _MARK_BYTES) if code[at : at + _MARK_BYTES] == marker]
            for marker in (_MARK_BEGIN, _MARK_END)
        )
        if len(begins) == len(ends) == 1:
            return begins[0], ends[0]
    return None


def execute(server: Server, image: Image, markers: tuple[int, int] | None, timeout_s: float) -> Execution:
    """Lets `image`, which is loaded and about to start, run until it ends, and leaves the core halted.

    markers: where to read the cycle counter, which is on; None if it is not.
    DebuggerError if the core stops elsewhere, or the image does not end within `timeout_s`.
    """
    write, data_field = image.address(_WRITE), image.address(_DATA_FIELD)
    begin, end = markers or (-1, -1)
    # Some servers stop the core where it begins to handle a fault, which it then reports.
    expected = (write, data_field, begin, end, image.address(_FAULT_HANDLER))
    deadline = time.monotonic() + timeout_s
    report, before = "", 0
    cycles: list[int] = []
    try:
        for address in (write, data_field, *(markers or ())):
            server.set_breakpoint(address)
        while not _EXIT.search(report[-_EXIT_BYTES:]):
            server.resume()
            stop = server.wait(deadline)
            registers = server.registers()
            at = registers[PC] & ~1
            if stop is not None and at not in expected:
                # A server that reports a stop twice may do so when the core runs again.
                server.await_report(_SECOND_REPORT_S)
                registers = server.registers()
                at = registers[PC] & ~1
                if at not in expected:
                    raise DebuggerError(
                        f"the core stopped at {image.place_of(at)} ({stop}), where nothing stops it "
                        f"here{_tail(report)}; remove breakpoints of other debuggers, and reset the board"
                    )
            if stop is None:
                raise DebuggerError(
                    f"the firmware did not end within {timeout_s:g} s: it is at {image.place_of(at)}{_tail(report)}; "
                    "give it more time with --timeout"
                )
            if at == write:
                report += server.read(registers[0], registers[1]).decode("utf-8", "replace") if registers[1] else ""
                server.set_register(PC, registers[LR] & ~1)
            elif at == data_field:
                key = server.read(registers[1], _LONGEST_KEY).split(b"\0")[0].decode("ascii", "replace")
                data = server.read(registers[2], registers[3]) if registers[3] else b""
                report += f" {key}={data.hex()}"
                server.set_register(PC, registers[LR] & ~1)
            elif at == begin:
                before = cycle_counter.read(server)
                server.set_register(PC, at + _MARK_BYTES)
            elif at == end:
                cycles.append((cycle_counter.read(server) - before) & 0xFFFFFFFF)
                server.set_register(PC, at + _MARK_BYTES)
    finally:
        server.remove_breakpoints()
    return Execution(report, cycles)


def _tail(report: str) -> str:
    lines = report.strip().splitlines()
    return f", after {lines[-1]!r}" if lines else ", before it reported anything"
