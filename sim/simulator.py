"""Runs firmware on simulated hardware: the interface of all simulator drivers.

    result = simulator.run("bazel-bin/runtime/cortex_m55.elf", job=blob)
    if result.status != "exit" or result.exit_code != 0: raise RuntimeError(result.explain())

A driver is a module with `create() -> Simulator`. CND_SIMULATOR chooses the driver, else Bazel's
`--define simulator=...`, else what a test declares in CND_TEST_SIMULATOR, else it is auto.

    qemu, renode   this simulator
    auto           Renode if it is installed and can run the image, else QEMU, with a warning that says why
    both           both simulators; a difference between their results is an error
    every          both if they are installed and can run the image, else auto
    fast           QEMU, which starts at once, if it is installed and has the board, else auto

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

# By name; includes those in platforms/simulators.bzl.
DRIVERS = {
    "auto": "sim.auto",
    "both": "sim.both",
    "every": "sim.every",
    "fast": "sim.fast",
    **{name: entry["driver"] for name, entry in boards.simulators().items()},
}
_SELECTED = generated(pathlib.Path("sim", "selected.json"))  # Written by Bazel: {"simulator": name}
DEFAULT_TIMEOUT_S = (
    120.0  # Ends firmware that is stuck; long enough that a run does not fail because the machine is busy.
)


class SimulatorError(RuntimeError):
    """The simulator cannot be used; the message says what to do."""


@dataclasses.dataclass(frozen=True)
class Result:
    """The result of a run.

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
    core: str  # that was simulated: "cortex-m33"; may be another than that of the image, with all instructions of that
    counter: str  # where instruction counts come from: "plugin" or "hooks" (both exact), or "systick"
    counter_note: str  # why "systick"; "" if counts are exact
    regions: list[Region] | None  # None unless counts are exact
    total_instructions: int | None  # of the whole run, from reset; None unless counts are exact
    diagnostics: str  # messages of the simulator itself
    simulator_note: str = ""  # why this simulator was used, if there was a choice
    cycle_model: str = ""  # what models the cycles of `regions`: "LLVM 19.1.7"; "" if they have none
    cycle_note: str = ""  # what that model lacks of this run

    def explain(self) -> str:
        """Returns a paragraph that explains a failed run."""
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

    def require(self, elf: Elf) -> None:  # noqa: B027  # most simulators run every image
        """Raises SimulatorError if this simulator cannot run `elf` correctly."""

    @abc.abstractmethod
    def run(self, elf: Elf, board: Board, job: bytes | None, timeout_s: float, count: bool) -> Result:
        """Runs `elf` from reset; see the function run()."""

    @abc.abstractmethod
    def interactive_command(self, elf: Elf, board: Board, job_path: str | None, gdb_port: int | None) -> list[str]:
        """Returns the command line that runs `elf` with its UART on the terminal."""


def selected() -> str:
    """Returns the name of the default simulator."""
    configured = json.loads(_SELECTED.read_text())["simulator"] if _SELECTED.exists() else "auto"
    chosen = os.environ.get("CND_SIMULATOR") or ("" if configured == "auto" else configured)
    return chosen or os.environ.get("CND_TEST_SIMULATOR") or "auto"


def create(name: str | None = None) -> Simulator:
    """Returns the driver `name` (default: selected())."""
    name = name or selected()
    if name not in DRIVERS:
        raise SimulatorError(f"unknown simulator {name!r}; choose one of {', '.join(DRIVERS)}")
    driver: Simulator = importlib.import_module(DRIVERS[name]).create()
    return driver


def board_of(elf: Elf) -> Board:
    """Returns the board that an image was linked for."""
    try:
        return boards.board_of(elf.path, elf.string("bsp_board"))
    except BoardError as error:
        raise SimulatorError(str(error)) from error


def described(board: Board, simulator: str) -> dict[str, Any]:
    """Returns the settings of `board` for `simulator` ("qemu"); SimulatorError if that does not run its images."""
    if simulator in board.simulators:
        return board.simulators[simulator]
    title = boards.simulators()[simulator]["title"]
    by = f", only by {', '.join(board.simulators)}" if board.simulators else ", nor by any other simulator"
    raise SimulatorError(
        f"the board {board.name} is not simulated by {title}{by}: run the image on hardware, or add {simulator!r} to "
        "the simulators in the board's description"
    )


def check_job(elf: Elf, job_bytes: int) -> int:
    """Returns the address of the mailbox of `elf`; SimulatorError if a job of this size does not fit."""
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

    elf: path of the image.  board: default: the board that the image was linked for.
    job: bytes to load at __mailbox_start.
    count: whether to count executed instructions exactly (Result.regions), which takes longer.
    Raises SimulatorError or ElfError if the image cannot be run at all.
    """
    image = Elf(elf)
    if board is None:
        board = board_of(image)
    elif isinstance(board, str):
        board = get_board(board)
    with scratch.ended_in_order():
        return create().run(image, board, job, timeout_s, count)
