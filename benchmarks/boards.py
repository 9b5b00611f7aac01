"""What real boards took for programs whose cycles were modelled, in boards.json: `load`, `section`.

Others have published these programs with the cycles that they took on a Nucleo-L4R5ZI. Each was compiled once in a
temporary folder, and ran in QEMU with sim/qemu/m4_cycles_plugin.c; only figures are kept. Boards with other cores are
those of cycles.py.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from benchmarks.text import millions, table
from cmsis_nn_delegate.runner.simulate import Cycles

FILE = Path(__file__).with_name("boards.json")


@dataclass(frozen=True)
class Program:
    """`instructions` were executed in the simulator, which models the least and the most cycles; `board` is what the
    board took."""

    program: str
    instructions: int
    modelled: Cycles
    board: int
    floating_point: bool

    @property
    def share(self) -> float:
        """The board's cycles, as a share of the most that the model allows."""
        return self.board / self.modelled[1]


@dataclass(frozen=True)
class Group:
    """Programs of one source; `board`, `compiler` and `about` say how they ran, and what they are."""

    system: str
    about: str
    source: str
    board: str
    compiler: str
    programs: tuple[Program, ...]


def load() -> list[Group]:
    """Reads boards.json."""
    document = json.loads(FILE.read_text(encoding="utf-8"))
    return [
        Group(**{**group, "programs": tuple(_program(entry) for entry in group["programs"])})
        for group in document["groups"]
    ]


def error(groups: Iterable[Group]) -> tuple[float, float]:
    """Returns the least and the largest `share` of the programs that compute with integers."""
    shares = [program.share for group in groups for program in group.programs if not program.floating_point]
    return min(shares), max(shares)


def sentence(groups: Iterable[Group]) -> str:
    """Returns how far the model is from boards."""
    least, most = error(groups)
    return f"On a board, integer programs took {least:.2f} to {most:.2f} times the most that the model allows"


def section(groups: list[Group]) -> str:
    """Returns the part of docs/benchmarks.md about boards."""
    floats = {f"{group.system}'s {p.program}": p for group in groups for p in group.programs if p.floating_point}
    rows = [
        [
            group.system,
            program.program,
            f"{program.instructions / 1e6:.3f}",
            millions(program.modelled),
            f"{program.board / 1e6:.3f}",
            f"{program.share:.3f}",
        ]
        for group in groups
        for program in group.programs
    ]
    titles = ["system", "program", "instructions", "modelled cycles", "cycles of the board", "board / most"]
    return "\n".join(
        [
            "## The model against a board, millions of cycles",
            "Others have published programs together with the cycles that they took on a Nucleo-L4R5ZI. These programs",
            "were compiled here and ran in QEMU under the same model, with the flash's waits where the board had them.",
            f"{sentence(groups)}, so",
            "the upper end of a range is the better guess. For floating point the model is too slow:",
            *(f"{name} took {program.share:.2f} times the most." for name, program in floats.items()),
            "The boards' programs came from other versions of GCC, so C is not the same to the instruction; those of",
            "pqm4 are mostly assembly.",
            "",
            *(f"- {g.system} is {g.about}. {g.board}; {g.compiler}. {g.source}." for g in groups),
            "",
            *table(titles, rows),
            "",
        ]
    )


def _program(entry: dict[str, object]) -> Program:
    least, most = entry["modelled"]
    return Program(**{**entry, "modelled": (least, most)})
