"""The cycles of each call of a payload on a board: `measure`.

They are ticks of the board's time base, SysTick, which counts at the clock of the core. The image is a runner that
marks calls (//runtime/runner/standalone:standalone_profile). What the markers' own code takes is measured with kernels
that return at once, and taken off the calls; it stays in the executor's cycles.
"""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Optional, Union

import numpy as np

from ..report.model_report import Report
from ..support.errors import UserError
from . import device
from .device_connection import DeviceRun, Progress


@dataclass(frozen=True)
class Measured:
    """Cycles of one inference on a board, which are those of its calls and of the executor."""

    board: str  # what its owner calls it, with its clock: "NUCLEO-L4R5ZI at 120 MHz"
    core: str
    kernels: str  # of the image, as in its banner
    through: str  # "OpenOCD 0.12.0", "a serial line"
    date: str  # ISO 8601
    inference: int
    executor: int  # with the code that marks calls
    calls: tuple[int, ...]

    def __post_init__(self) -> None:
        datetime.date.fromisoformat(self.date)
        if not self.board:
            raise ValueError("the board has no name")
        if "|" in self.board or not self.board.isprintable():
            raise ValueError(f"{self.board!r} is no name for a table")
        if self.executor + sum(self.calls) != self.inference:
            raise ValueError("the calls and the executor are not the inference")


def measure(
    report: Report,
    payload: bytes,
    inputs: Sequence[np.ndarray],
    url: str,
    image: Optional[Union[str, Path]],
    board: str,
    *,
    timeout_s: float = 600.0,
    progress: Progress = lambda line: None,
) -> Measured:
    """Runs `payload`, which `report` is about, with one set of `inputs`, twice; the other arguments are those of
    `device.run`. UserError as there, and if there are no cycles, or the image marks no calls."""

    def run(null_kernels: bool) -> DeviceRun:
        return device.run(
            payload,
            [inputs],
            url,
            image,
            board=board,
            null_kernels=null_kernels,
            timeout_s=timeout_s,
            progress=progress,
        )

    found = run(False)
    if found.no_cycles:
        raise UserError(f"no cycles can be measured: {found.no_cycles}")
    if len(found.call_ticks[0]) != len(report.calls):
        raise UserError(
            f"the image on the board timed {len(found.call_ticks[0])} calls, the payload has {len(report.calls)}: link "
            "it with //runtime/runner/standalone:standalone_profile"
        )
    markers = run(True).call_ticks[0]
    calls = tuple(max(0, ticks - own) for ticks, own in zip(found.call_ticks[0], markers, strict=True))
    return Measured(
        board=board,
        core=found.core,
        kernels=found.info.kernels,
        through=found.through,
        date=datetime.date.today().isoformat(),
        inference=found.ticks[0],
        executor=found.ticks[0] - sum(calls),
        calls=calls,
    )
