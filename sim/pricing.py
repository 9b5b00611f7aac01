"""Cycles of blocks that executed in QEMU (blocks_plugin.c), from LLVM's model of the core: `priced`.

What a block takes depends on the block before it, so steps from block to block are priced: a step from A to B takes
what llvm-mca says of A and B in sequence, less what it says of A. A block that follows itself takes the mean of several
rounds. To these cycles are added, at least and at most:

    branches       nothing, or the refill of the pipeline (core_models.py): after each branch that is taken, or, on
                   cores that predict them, twice for each time that a branch does not go its usual way, and for each
                   address that was computed. The end of a low-overhead loop costs nothing, at most a refill a loop
    several words  loads and stores of several registers move one or two words in a cycle
    divisions      may take longer than LLVM says

On cores whose instructions overlap more than llvm-mca allows (`CoreModel.overlaps`), at least a block takes what its
instructions need of the core's units, whatever depends on what. Memory has no wait states, and there are no caches.

Standard library only.
"""

from __future__ import annotations

import collections
import dataclasses
import pathlib
from collections.abc import Iterable

from sim.core_models import CoreModel
from sim.listing import Instruction, Listing
from sim.llvm import Region, Tools
from sim.simulator import SimulatorError

# Iterations of a block that follows itself; the first one is not part of the mean.
_ROUNDS = 11

Key = tuple[int, int]  # address of a block, number of its instructions
_NOTHING: Key = (0, 0)


@dataclasses.dataclass
class Event:
    """A marker, or the end: its line, and the steps since the event before it, with how often each was made."""

    event: str
    executed: int
    steps: collections.Counter[tuple[Key, Key]]


@dataclasses.dataclass(frozen=True)
class Priced:
    """`regions` is the plugin's report with cycles, for sim.regions. `unknown` counts executed instructions by mnemonic
    that LLVM's model does not have; a cycle was counted for each."""

    regions: str
    unknown: dict[str, int]


def read_steps(text: str) -> list[Event]:
    """Reads the lines of blocks_plugin.c. SimulatorError if the blocks do not add up to the executed instructions."""
    keys: dict[int, Key] = {0: _NOTHING}
    events: list[Event] = []
    steps: collections.Counter[tuple[Key, Key]] = collections.Counter()
    total = 0
    # The last line of a killed run may be incomplete.
    for line in text.splitlines() if text.endswith("\n") else text.splitlines()[:-1]:
        kind, *words = line.split(" ")
        if kind == "block":
            keys[int(words[0])] = (int(words[1], 16), int(words[2]))
        elif kind == "step":
            step, times = (keys[int(words[0])], keys[int(words[1])]), int(words[2])
            steps[step] += times
            total += times * step[1][1]
        elif kind in ("begin", "end", "total"):
            executed = int(words[0])
            if total != executed:
                raise SimulatorError(
                    f"blocks with {total:,} instructions executed, and {executed:,} instructions: a fault has left one "
                    "early, or the plugin is wrong, and there are no modelled cycles"
                )
            events.append(Event(kind, executed, steps))
            steps = collections.Counter()
    return events


def priced(text: str, image: pathlib.Path, core: str, model: CoreModel, tools: Tools) -> Priced:
    """Returns the plugin's report `text` of a run of an image with cycles of a core. SimulatorError as in
    `read_steps`, and if the image does not contain what has executed."""
    events = read_steps(text)
    try:
        prices = _Prices(events, Listing(tools.listing(image, model)), core, model, tools)
    except ValueError as error:
        raise SimulatorError(f"{image}: {error}") from error
    lines = []
    least = most = 0.0
    for event in events:
        low, high = prices.of(event.steps)
        least, most = least + low, most + high
        lines.append(f"{event.event} {event.executed} {round(least)} {round(most)}")
    return Priced("\n".join(lines) + "\n", prices.unknown)


class _Prices:
    def __init__(self, events: Iterable[Event], listing: Listing, core: str, model: CoreModel, tools: Tools) -> None:
        self._model = model
        steps: collections.Counter[tuple[Key, Key]] = collections.Counter()
        for event in events:
            steps.update(event.steps)
        self._keys = {key: f"b{number}" for number, key in enumerate(dict.fromkeys(to for _, to in steps))}
        self._blocks = {key: listing.block(*key) for key in self._keys}
        before = {key: listing.opened_before(key[0]) for key in self._keys}
        alone = {name: _texts(before[key] + self._blocks[key]) for key, name in self._keys.items()}
        pairs = {
            self._pair(a, b): _texts(before[a] + self._blocks[a] + self._blocks[b])
            for a, b in steps
            if a != _NOTHING and (a != b or before[a])
        }
        rounds = {name: alone[name] for key, name in self._keys.items() if (key, key) in steps and not before[key]}
        unknown = tools.analyze(model, core, _not_empty(alone), 1).unknown
        self.unknown = self._count(unknown, steps)

        def regions(of: dict[str, list[str]], iterations: int) -> dict[str, Region]:
            found = tools.analyze(model, core, _without(of, unknown), iterations)
            # Where an IT is unknown and has been replaced, llvm-mca adds and leaves out another one.
            free = sorted(name for name in found.unknown - unknown if not name.startswith("it"))
            if free:
                raise SimulatorError(f"llvm-mca leaves out {', '.join(free)}, which would then cost nothing")
            return found.regions

        self._once = regions({**alone, **pairs}, 1)
        self._rounds = regions(rounds, _ROUNDS)
        self._refills = self._branches(steps)
        self._cost = {step: self._price(*step) for step in steps}

    def of(self, steps: collections.Counter[tuple[Key, Key]]) -> tuple[float, float]:
        """Returns the least and the most cycles of some of the steps."""
        least = most = 0.0
        for step, times in steps.items():
            low, high = self._cost[step]
            least, most = least + times * low, most + times * high
        return least, most

    def _pair(self, a: Key, b: Key) -> str:
        return f"{self._keys[a]}-{self._keys[b]}"

    def _count(self, unknown: Iterable[str], steps: collections.Counter[tuple[Key, Key]]) -> dict[str, int]:
        counts: collections.Counter[str] = collections.Counter()
        if unknown:
            for (_, to), times in steps.items():
                for text in _texts(self._blocks[to]):
                    if text.split()[0] in unknown:
                        counts[text.split()[0]] += times
        return dict(counts.most_common())

    def _branches(self, steps: collections.Counter[tuple[Key, Key]]) -> dict[tuple[Key, Key], float]:
        """Returns how much of a refill each step adds at most, on average of the times that it is made."""
        taken: collections.Counter[Key] = collections.Counter()
        passed: collections.Counter[Key] = collections.Counter()
        for (a, b), times in steps.items():
            (taken if self._jumps(a, b) else passed)[a] += times
        shares = {}
        for a, b in steps:
            last = self._blocks[a][-1] if a != _NOTHING else None
            if last is None:
                share = 0.0
            elif last.ends_loop and self._model.loops:
                share = 0.0 if self._jumps(a, b) else 1.0
            elif not self._model.foresees:
                share = 1.0 if self._jumps(a, b) else 0.0
            elif last.is_indirect:
                share = 1.0 if self._jumps(a, b) else 0.0
            else:
                share = 2 * min(taken[a], passed[a]) / (taken[a] + passed[a])
            shares[a, b] = share
        return shares

    def _jumps(self, a: Key, b: Key) -> bool:
        if a == _NOTHING:
            return False
        last = self._blocks[a][-1]
        return b[0] - last.address not in (2, 4)

    def _price(self, a: Key, b: Key) -> tuple[float, float]:
        name = self._keys[b]
        alone = self._once.get(name)
        if a == b and name in self._rounds and alone is not None:
            simulated = (self._rounds[name].cycles - alone.cycles) / (_ROUNDS - 1)
        elif a == _NOTHING:
            simulated = float(alone.cycles) if alone is not None else 0.0
        else:
            pair, first = self._once.get(self._pair(a, b)), self._once.get(self._keys[a])
            simulated = float((pair.cycles if pair is not None else 0) - (first.cycles if first is not None else 0))
        least = min(simulated, alone.bound if alone is not None else 0.0) if self._model.overlaps else simulated
        few, many = self._model.words
        words = [instruction.words for instruction in self._blocks[b] if instruction.words]
        divisions = sum(instruction.divides for instruction in self._blocks[b])
        least += sum(-(-n // many) - 1 for n in words)
        most = simulated + sum(-(-n // few) - 1 for n in words)
        most += divisions * self._model.division + self._refills[a, b] * self._model.refill
        return least, most


def _texts(instructions: list[Instruction]) -> list[str]:
    """Returns a run of instructions as llvm-mca reads it, with no IT or VPT that covers more than the run has."""
    texts = []
    for number, instruction in enumerate(instructions):
        left = len(instructions) - number - 1
        texts.append(instruction.covering(left) if left < instruction.covers else instruction.text)
    return [text for text in texts if text]


def _not_empty(regions: dict[str, list[str]]) -> dict[str, list[str]]:
    return {name: texts for name, texts in regions.items() if texts}


def _without(regions: dict[str, list[str]], unknown: Iterable[str]) -> dict[str, list[str]]:
    """Returns the regions with an instruction of one cycle in the place of unknown ones."""
    return _not_empty(
        {name: ["mov.w r8, r8" if t.split()[0] in unknown else t for t in texts] for name, texts in regions.items()}
    )
