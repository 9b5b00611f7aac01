"""A board at the other end of a serial line, whose image has //runtime/runner/serial and was written before."""

from __future__ import annotations

import re
from types import TracebackType

from ..format.schema import Isa
from ..serial_line.runner import SerialRunner
from .device_connection import Executed, Progress, check_isa


class SerialConnection:
    """The board at serial://PORT: see device_connection.Connection.

    isa: that of the payload.  board: its name, for the results. Only with one there are cycles: nothing on the line
    tells a board from a simulator, whose time base counts instructions.
    """

    simulated = False
    through = "a serial line"

    def __init__(self, url: str, isa: Isa, board: str, progress: Progress) -> None:
        self._url, self._isa, self._progress = url, isa, progress
        self.no_cycles = "" if board else "a simulator would count instructions; name the board with --board-name"

    def __enter__(self) -> SerialConnection:
        self._runner = SerialRunner(self._url)
        try:
            about = self._runner.board
            self.core, self.mailbox_bytes = about.core, about.mailbox_bytes
            self.image = f"the runner of {about.board or 'the board'}"
            check_isa(self._isa, self.image, about.core, about.isa)
        except BaseException:
            self._runner.close()
            raise
        self._progress(f"{self.image} answers at {self._url}: {about.core}, {about.mailbox_bytes:,} bytes of mailbox")
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if error is None and (self._runner.repeated or self._runner.damaged):
            self._progress(
                f"the line: {self._runner.damaged:,} damaged frames, {self._runner.repeated:,} times said again"
            )
        self._runner.close()

    def execute(self, job: bytes, timeout_s: float) -> Executed:
        self._runner.load(job, self._progress)
        report = self._runner.run(timeout_s)
        # Ticks of SysTick are cycles of the core, and are read around an inference.
        cycles = (
            [] if self.no_cycles else [int(t) for t in re.findall(r"^##EXEC .*\bticks=(\d+)", report, re.MULTILINE)]
        )
        return Executed(report, cycles)

    def advice(self, error: int | None, report: str) -> str:
        fault = re.search(r"^##FAULT .*$", report, re.MULTILINE)
        if fault is not None:
            return f", after {fault[0]}: `arm-none-eabi-addr2line -e IMAGE.elf` names the place of pc"
        return ""
