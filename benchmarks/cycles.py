"""Cycles of the networks of MLPerf Tiny on cores that LLVM describes, and of boards with such cores: `model_cycles`.

boards.json has, besides what boards.py reads, what others have published of boards with these cores.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Optional

from benchmarks import boards
from benchmarks.measure import PROVIDERS, Images, encoded_with
from benchmarks.networks import Network
from benchmarks.text import millions, table
from cmsis_nn_delegate.runner import simulate
from cmsis_nn_delegate.runner.simulate import Cycles

CORES = tuple(core for core in simulate.MODELLED_CORES if core != simulate.MODELLED_BY_MANUAL)
# Portable kernels are nobody's choice on these cores.
_PROVIDERS = ("tuned", "cmsis-nn")


@dataclass(frozen=True)
class Modelled:
    """An inference of a network on a core with the kernels of `providers`, a key of PROVIDERS."""

    network: str
    weights: str
    core: str
    providers: str
    instructions: int
    cycles: Cycles  # at least, at most
    model: str  # "LLVM 19.1.7"

    @property
    def rates(self) -> tuple[float, float]:
        """Cycles an instruction, at least and at most."""
        return self.cycles[0] / self.instructions, self.cycles[1] / self.instructions


def model_cycles(network: Network, core: str, providers: str, images: Images) -> Modelled:
    """Models an inference. UserError without LLVM's tools, or if the network does not fit the board."""
    payload = encoded_with(network, core, providers, images).payload
    image = images.profile(core, providers)
    plain = image.with_name(image.name.replace("_profile", ""))
    run = simulate.run(payload, [network.inputs], plain, cycles=True, verify_crc=False)
    assert run.instructions is not None, "a run with cycles counts instructions"
    return Modelled(network.name, network.weights, core, providers, run.instructions[0], run.cycles[0], run.cycle_model)


def providers_of(chosen: Iterable[str]) -> list[str]:
    """Returns those of `chosen` whose cycles are modelled."""
    return [name for name in chosen if name in _PROVIDERS]


@dataclass(frozen=True)
class Program:
    """What a board took, in cycles. `instructions` were executed in the simulator. `modelled` is the model's range;
    None for a network, where it is that of our image with CMSIS-NN's kernels, for as many instructions."""

    program: str
    instructions: int
    board: int
    modelled: Optional[Cycles] = None


@dataclass(frozen=True)
class Published:
    """Programs of one source on boards with `core`. `about` says how they and their figures came about."""

    core: str
    system: str
    about: str
    programs: tuple[Program, ...]


def load() -> list[Published]:
    """Reads the part `other_cores` of boards.json."""
    document = json.loads(boards.FILE.read_text(encoding="utf-8"))
    return [
        Published(**{**entry, "programs": tuple(_program(program) for program in entry["programs"])})
        for entry in document["other_cores"]
    ]


def _program(entry: dict[str, Any]) -> Program:
    modelled = entry.get("modelled")
    return Program(**{**entry, "modelled": (modelled[0], modelled[1]) if modelled else None})


@dataclass(frozen=True)
class Compared:
    """A program of a board next to the model."""

    published: Published
    program: Program
    modelled: Cycles

    @property
    def share(self) -> float:
        """The board's cycles, as a share of the most that the model says."""
        return self.program.board / self.modelled[1]


def compared(modelled: Sequence[Modelled], published: Sequence[Published]) -> list[Compared]:
    """Returns the published programs that the model has something to say about."""
    rates = {(m.core, m.network): m.rates for m in modelled if m.providers == "cmsis-nn"}
    found = []
    for entry in published:
        for program in entry.programs:
            rate = rates.get((entry.core, program.program))
            if program.modelled:
                found.append(Compared(entry, program, program.modelled))
            elif rate:
                least, most = (round(each * program.instructions) for each in rate)
                found.append(Compared(entry, program, (least, most)))
    return found


def sentences(modelled: Sequence[Modelled], published: Sequence[Published]) -> list[str]:
    """Returns how far the models are from boards, a sentence for each core."""
    found = compared(modelled, published)
    shares = {core: [c.share for c in found if c.published.core == core] for core in CORES}
    return [
        f"On a {name(core)}, {len(parts)} programs took {min(parts):.2f} to {max(parts):.2f} times the most by the "
        f"model{_half(parts)}."
        if parts
        else f"Of the {name(core)}, no cycles are known of programs like these."
        for core, parts in shares.items()
    ]


def _half(shares: Sequence[float]) -> str:
    """Returns where the middle half of many shares lies, "" for few."""
    if len(shares) < 8:
        return ""
    low, _, high = statistics.quantiles(shares, n=4)
    return f", and half of them {low:.2f} to {high:.2f} times"


def name(core: str) -> str:
    """Returns "Cortex-M55"."""
    return core.replace("cortex-m", "Cortex-M")


def section(modelled: Sequence[Modelled], published: Sequence[Published]) -> str:
    """Returns the part of docs/benchmarks.md about these cores; "" if nothing was modelled."""
    if not modelled:
        return ""
    found = {(m.core, m.network, m.providers): m for m in modelled}
    providers = [p for p in PROVIDERS if any(m.providers == p for m in modelled)]
    rows = []
    for core, network in dict.fromkeys((m.core, m.network) for m in modelled):
        cells = [found.get((core, network, p)) for p in providers]
        counts = [f"{m.instructions / 1e6:.3f}" if m else "-" for m in cells]
        rows.append([network, core, *counts, *(millions(m.cycles) if m else "-" for m in cells)])
    titles = ["network", "core", *(f"instructions, {p}" for p in providers), *(f"cycles, {p}" for p in providers)]
    models = list(dict.fromkeys(m.model for m in modelled))
    return "\n".join(
        [
            "## Cycles by LLVM's models, millions",
            f"What the models of Cortex-M7, M33, M55 and M85 that {' and '.join(models)} has say of the blocks that",
            "executed: [sim/pricing.py](../sim/pricing.py) has the details, and [Speed](guides/speed.md#cycles) what",
            "lies between the ends of a range. Memories have no wait states, and there are no caches: code, payload",
            "and arena lie in tightly coupled memory.",
            "",
            *table(titles, rows),
            "",
            *_against_boards(modelled, published),
        ]
    )


def _against_boards(modelled: Sequence[Modelled], published: Sequence[Published]) -> list[str]:
    rows = [
        [
            c.program.program,
            c.published.core,
            c.published.system,
            f"{c.program.instructions / 1e6:.3f}",
            millions(c.modelled),
            f"{c.program.board / 1e6:.3f}",
            f"{c.share:.2f}",
        ]
        for c in compared(modelled, published)
    ]
    if not rows:
        return []
    titles = ["program", "core", "system", "instructions", "modelled cycles", "cycles of the board", "board / most"]
    return [
        "### These models against boards, millions of cycles",
        *sentences(modelled, published),
        "Networks were not compiled again: what is modelled is our image with CMSIS-NN's kernels, for as many",
        "instructions as the other program executes. Compilers, versions of the kernels and memories differ.",
        "",
        *(f"- {entry.system} on {name(entry.core)}: {entry.about}." for entry in published),
        "",
        *table(titles, rows),
        "",
    ]
