"""The choice "fast": QEMU, which starts at once, if it is installed and has the board; otherwise as "auto"."""

from __future__ import annotations

from sim import simulator
from sim.auto import Auto
from sim.simulator import Simulator, SimulatorError


class Fast(Auto):
    """Chooses QEMU where it can."""

    def choose(self, elf, board) -> tuple[Simulator, str]:
        if "qemu" in board.simulators:
            try:
                return simulator.create("qemu"), ""
            except SimulatorError:
                pass  # Renode may be there.
        return super().choose(elf, board)


def create() -> Fast:
    """Always there; a missing simulator is an error of the run."""
    return Fast()
