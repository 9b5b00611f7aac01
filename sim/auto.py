"""The choice "auto": Renode if it is installed and can run the image, else QEMU with the reason."""

from __future__ import annotations

import dataclasses
import functools
import warnings

from sim import simulator
from sim.simulator import Simulator, SimulatorError


class SimulatorChoice(UserWarning):
    """QEMU runs an image instead of Renode."""


@functools.cache
def _warn(note: str) -> None:
    """Warns once for each reason, so that it appears in the summary of a test run."""
    warnings.warn(note, SimulatorChoice, stacklevel=2)


@functools.lru_cache(maxsize=1)
def _renode() -> Simulator | str:
    """Returns the driver of the installed Renode, or the reason why there is none."""
    try:
        return simulator.create("renode")
    except SimulatorError as error:
        return str(error)


class Auto(Simulator):
    """Chooses a simulator for each image."""

    def choose(self, elf, board) -> tuple[Simulator, str]:
        """Returns the driver for `elf` on `board`, and why it is not Renode's ("" if it is, or if Renode does not run
        the board)."""
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
        return simulator.create("qemu"), f"QEMU runs this instead of Renode: {reason}"

    def run(self, elf, board, job, timeout_s, count):
        driver, note = self.choose(elf, board)
        if note:
            _warn(note)
        result = driver.run(elf, board, job, timeout_s, count)
        return dataclasses.replace(result, simulator_note=note or result.simulator_note)

    def interactive_command(self, elf, board, job_path, gdb_port):
        driver, note = self.choose(elf, board)
        if note:
            _warn(note)
        return driver.interactive_command(elf, board, job_path, gdb_port)


def create() -> Auto:
    """Always there; a missing simulator is an error of the run."""
    return Auto()
