"""The choice "auto": Renode where it is present and able, else QEMU, saying why."""

from __future__ import annotations

import dataclasses
import functools
import warnings

from sim import simulator
from sim.simulator import Simulator, SimulatorError


class SimulatorChoice(UserWarning):
    """QEMU takes the place of Renode."""


@functools.cache
def _warn(note: str) -> None:
    """Once for each reason, so that the summary of a test run has it."""
    warnings.warn(note, SimulatorChoice, stacklevel=2)


@functools.lru_cache(maxsize=1)
def _renode() -> Simulator | str:
    """The driver of the installed Renode, or why there is none."""
    try:
        return simulator.create("renode")
    except SimulatorError as error:
        return str(error)


class Auto(Simulator):
    """Chooses for each image."""

    def choose(self, elf, board) -> tuple[Simulator, str]:
        """The driver for `elf` on `board`, and why it is not Renode's; "" if it is, or the board leaves no choice."""
        if "renode" not in board.simulators:
            simulator.described(board, "qemu")
            return simulator.create("qemu"), ""
        renode = _renode()
        if isinstance(renode, Simulator):
            try:
                renode.require(elf)
                return renode, ""
            except SimulatorError as error:
                reason = str(error)
        else:
            reason = renode
        if "qemu" not in board.simulators:
            raise SimulatorError(reason)
        return simulator.create("qemu"), f"QEMU runs this, as Renode does not: {reason}"

    def run(self, elf, board, job, timeout_s, count):
        driver, note = self.choose(elf, board)
        if note:
            _warn(note)
        result = driver.run(elf, board, job, timeout_s, count)
        return dataclasses.replace(result, simulator_note=note)

    def interactive_command(self, elf, board, job_path, gdb_port):
        driver, note = self.choose(elf, board)
        if note:
            _warn(note)
        return driver.interactive_command(elf, board, job_path, gdb_port)


def create() -> Auto:
    """Always there; a missing simulator is an error of the run."""
    return Auto()
