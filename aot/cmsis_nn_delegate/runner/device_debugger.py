"""A board behind a GDB server: image, payload and inputs are written into memory, and outputs read from there.

The board needs no UART, but a debug probe.
"""

from __future__ import annotations

import re
from pathlib import Path
from types import TracebackType
from typing import Union

from ..debugger import core as cores
from ..debugger import cycle_counter, execution, loading
from ..debugger.identity import Identity, identify
from ..debugger.image import Image, Segment
from ..debugger.server import Server
from ..format.schema import Isa
from ..support.errors import UserError
from .device_connection import Executed, Progress, check_isa


class DebuggerConnection:
    """Loads the runner `image` into the board at gdb://HOST:PORT: see device_connection.Connection.

    isa: that of the payload.  board: its name, for the results.
    """

    def __init__(self, url: str, image: Union[str, Path], isa: Isa, board: str, progress: Progress) -> None:
        self._firmware = Image(image)
        self._url, self._board, self._progress = url, board, progress
        self.image = str(self._firmware.path)
        check_isa(isa, self.image, self._firmware.text("bsp_core"), self._firmware.text("bsp_isa"))
        self.mailbox_bytes = self._firmware.address("__mailbox_end") - self._firmware.address("__mailbox_start")

    def __enter__(self) -> DebuggerConnection:
        self._server = Server(self._url)
        try:
            self._start()
        except BaseException:
            self._server.__exit__(None, None, None)
            raise
        return self

    def _start(self) -> None:
        identity = identify(self._server)
        _check_name(identity, self._board)
        self.simulated = identity.simulates
        self.through = identity.name or "a GDB server that does not say who it is"
        cores.reset(self._server)
        self.core = cores.core_of(self._server, self._firmware)
        self._progress(f"loading {self.image} into a {self.core} through {identity.name or self._url}")
        loading.load(self._server, self._firmware.segments, self._progress)
        self.no_cycles = _start_counter(self._server, identity, self.core, self._firmware)
        self._markers = None if self.no_cycles else execution.markers_of(self._firmware)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.__exit__(kind, error, trace)

    def execute(self, job: bytes, timeout_s: float) -> Executed:
        loading.load(self._server, [Segment(self._firmware.address("__mailbox_start"), job)])
        cores.start(self._server, self._firmware)
        executed = execution.execute(self._server, self._firmware, self._markers, timeout_s)
        return Executed(executed.report, executed.cycles)

    def advice(self, error: int | None, report: str) -> str:
        fault = re.search(r"^##FAULT .*pc=([0-9a-f]{8}).*$", report, re.MULTILINE)
        if fault is not None:
            return f", after a fault at {self._firmware.place_of(int(fault[1], 16))}: {fault[0]}"
        return ""


def _check_name(identity: Identity, board: str) -> None:
    """UserError if what a simulator computes would be called a board's."""
    if identity.simulates and board:
        raise UserError(f"this GDB server is {identity.name}, a simulator, and no {board}: leave out --board-name")


def _start_counter(server: Server, identity: Identity, core: str, image: Image) -> str:
    """Switches the cycle counter on. Returns why there are no cycles, "" if there are."""
    if identity.simulates:
        return f"{identity.name} simulates instructions, not cycles"
    if execution.markers_of(image) is None:
        return f"{image.path} has no markers around an inference"
    try:
        cycle_counter.start(server, core)
    except cycle_counter.NoCounter as error:
        return str(error)
    return ""
