"""Running firmware on simulated hardware: the interface that every simulator driver has.

    result = simulator.run("bazel-bin/runtime/cortex_m55.elf", job=blob)
    if result.status != "exit" or result.exit_code != 0: raise RuntimeError(result.explain())

A driver is a module with `create() -> Simulator`. Which one is used: CND_SIMULATOR, else Bazel's
`--define simulator=...`, else auto.

    qemu, renode   this one
    auto           Renode, if it is there and can run the image; else QEMU, with a warning that says why
    both           both of them; a difference between their results is an error

Standard library only.
"""

from __future__ import annotations

import abc
import dataclasses
import importlib
import json
import os
import pathlib
from typing import Any

from sim import boards, scratch
from sim.boards import Board, BoardError, generated, get_board
from sim.elf import Elf
from sim.regions import Region

# By name, those of platforms/simulators.bzl among them.
DRIVERS = {
    "auto": "sim.auto",
    "both": "sim.both",
    **{name: entry["driver"] for name, entry in boards.simulators().items()},
}
_SELECTED = generated(pathlib.Path("sim", "selected.json"))  # Written by Bazel: {"simulator": name}
DEFAULT_TIMEOUT_S = 120.0  # For a stuck firmware; a busy machine must not fail a run.


class SimulatorError(RuntimeError):
    """The simulator could not be used; the message says what to do."""


@dataclasses.dataclass(frozen=True)
class Result:
    """What a run produced.

    status: "exit"     the firmware ended by bsp_exit(); `exit_code` is its code
            "fault"    it ended in a fault; `uart` ends with the line that says where
            "timeout"  stopped after the wall-clock limit
            "no-exit"  the simulator ended by itself, without the firmware's exit line
    """

    status: str
    exit_code: int | None
    uart: str
    ticks_to_instructions: float  # executed instructions per tick of bsp_ticks()
    simulator: str  # name and version: "QEMU 7.2.22"
    counter: str  # where instruction counts come from: "plugin" or "hooks" (both exact), or "systick"
    counter_note: str  # why "systick"; "" if counts are exact
    regions: list[Region] | None  # None unless counts are exact
    total_instructions: int | None  # of the whole run, from reset; None unless counts are exact
    diagnostics: str  # what the simulator itself said
    simulator_note: str = ""  # why this simulator, where there was a choice

    def explain(self) -> str:
        """One paragraph about a run that did not go well."""
        lines = {
            "exit": f"the firmware ended with exit code {self.exit_code}",
            "fault": "the firmware ended in a fault",
            "timeout": "the firmware did not end within the time limit",
            "no-exit": f"{self.simulator} ended before the firmware did",
        }
        tail = self.uart.strip().splitlines()[-5:]
        parts = [lines[self.status] + (", after" if tail else " without any output"), *tail]
        if self.diagnostics.strip():
            parts += [f"{self.simulator} said", self.diagnostics.strip()]
        return "\n".join(parts)


class Simulator(abc.ABC):
    """A simulator that is installed."""

    def require(self, elf: Elf) -> None:  # noqa: B027  # most run every image
        """SimulatorError if this simulator cannot run `elf` rightly."""

    @abc.abstractmethod
    def run(self, elf: Elf, board: Board, job: bytes | None, timeout_s: float, count: bool) -> Result:
        """Runs `elf` from reset; see the function run()."""

    @abc.abstractmethod
    def interactive_command(self, elf: Elf, board: Board, job_path: str | None, gdb_port: int | None) -> list[str]:
        """The command line that runs `elf` with its UART on the terminal."""


def selected() -> str:
    """The name of the simulator that is used where none is named."""
    configured = json.loads(_SELECTED.read_text())["simulator"] if _SELECTED.exists() else "auto"
    return os.environ.get("CND_SIMULATOR") or configured


def create(name: str | None = None) -> Simulator:
    """The driver `name` (default: selected())."""
    name = name or selected()
    if name not in DRIVERS:
        raise SimulatorError(f"unknown simulator {name!r}; choose one of {', '.join(DRIVERS)}")
    driver: Simulator = importlib.import_module(DRIVERS[name]).create()
    return driver


def board_of(elf: Elf) -> Board:
    """The board that an image was linked for."""
    try:
        return boards.board_of(elf.path, elf.string("bsp_board"))
    except BoardError as error:
        raise SimulatorError(str(error)) from error


def described(board: Board, simulator: str) -> dict[str, Any]:
    """What `board` says about itself to `simulator` ("qemu"); SimulatorError if that does not run its images."""
    if simulator in board.simulators:
        return board.simulators[simulator]
    title = boards.simulators()[simulator]["title"]
    by = f", only by {', '.join(board.simulators)}" if board.simulators else ", nor by any other simulator"
    raise SimulatorError(
        f"the board {board.name} is not simulated by {title}{by}: run the image on hardware, or add {simulator!r} to "
        "the simulators in the board's description"
    )


def check_job(elf: Elf, job_bytes: int) -> int:
    """The address of the mailbox of `elf`; SimulatorError if a job of this size does not fit."""
    start, end = elf.address("__mailbox_start"), elf.address("__mailbox_end")
    if job_bytes > end - start:
        raise SimulatorError(
            f"the job has {job_bytes:,} bytes, the mailbox of {elf.path.name} only {end - start:,}: use fewer inputs"
        )
    return start


def run(
    elf: str | pathlib.Path,
    board: Board | str | None = None,
    job: bytes | None = None,
    timeout_s: float = DEFAULT_TIMEOUT_S,
    count: bool = True,
) -> Result:
    """Runs a firmware image from reset until it exits, faults, or `timeout_s` of wall-clock time are over.

    elf: path of the image.  board: default is the one it was linked for.
    job: bytes that the firmware finds at __mailbox_start.
    count: whether to count executed instructions exactly (Result.regions), which takes longer.
    Raises SimulatorError or ElfError if it cannot be run at all.
    """
    image = Elf(elf)
    if board is None:
        board = board_of(image)
    elif isinstance(board, str):
        board = get_board(board)
    with scratch.ended_in_order():
        return create().run(image, board, job, timeout_s, count)
