"""What `device` needs of a way to a board, and what comes of a run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Optional, Protocol

import numpy as np

from ..format.schema import Isa
from ..support.errors import UserError
from ..targets.target import get_target
from .result import RunInfo

Progress = Callable[[str], None]


@dataclass(frozen=True)
class DeviceRun:
    """The results of all input sets, and what was measured."""

    outputs: list[list[np.ndarray]]  # by input set, in logical shape and order
    info: RunInfo
    core: str  # of the board: "cortex-m4"
    through: str  # "QEMU 7.2.22", "a serial line"
    simulated: bool  # whether it is known to be a simulator
    board: str  # what the user calls it; "" if it has no name
    cycles: Optional[list[int]]  # of the board's core, by input set; None if there are none
    no_cycles: str  # why; "" if there are some
    ticks: list[int]  # of the board's time base, by input set
    call_ticks: list[list[int]]  # likewise, and by call; empty unless the image marks calls
    runtime_bytes: int
    arena_bytes: int
    stack_bytes: int
    state: Optional[bytes]  # persistent memory after the last input set; None if the payload has none

    @property
    def place(self) -> str:
        """Returns where the image ran, in words."""
        if self.simulated:
            return f"simulated on a {self.core} by {self.through}, through its GDB server"
        return f"{self.board or 'a board without a name'} with a {self.core}, through {self.through}"


@dataclass(frozen=True)
class Executed:
    """The report of an image, as on its UART, and the cycles of each inference if they were counted."""

    report: str
    cycles: list[int]


class Connection(Protocol):
    """A runner on a board, from `__enter__` on."""

    core: str
    through: str
    simulated: bool
    image: str  # what runs there, for messages
    mailbox_bytes: int
    no_cycles: str  # why no cycles can be counted; "" if they are

    def __enter__(self) -> Connection: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def execute(self, job: bytes, timeout_s: float) -> Executed:
        """Runs a job that fits into the mailbox. UserError if that fails; the message says what to do."""

    def advice(self, error: int | None, report: str) -> str:
        """Returns what else is known about an error that the image has reported, and what to do; or ""."""


def check_isa(wanted: Isa, image: str, core: str, isa: str) -> None:
    """UserError if a runner has kernels of another instruction set than a payload was compiled for."""
    if isa != wanted.name.lower():
        raise UserError(
            f"the payload is for cores with the instruction set {wanted.name.lower()}, and {image} is for {core}, "
            f"which has {isa}: compile the model with --target {get_target(core).name}, or give the runner of its core"
        )
