"""The choice "every": all simulators that are installed and can run the image, as "both" if that is two."""

from __future__ import annotations

from sim import simulator
from sim.auto import Auto
from sim.both import Both
from sim.simulator import Simulator, SimulatorError


class Every(Auto):
    """Compares what it can."""

    def choose(self, elf, board) -> tuple[Simulator, str]:
        driver, note = super().choose(elf, board)
        if note or not {"qemu", "renode"} <= board.simulators.keys():
            return driver, note
        try:
            return Both(driver, simulator.create("qemu")), ""
        except SimulatorError:
            return driver, ""


def create() -> Every:
    """Always there; a missing simulator is an error of the run."""
    return Every()
