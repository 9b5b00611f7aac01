"""What a search of formats found: `ChosenFormats`, as text and as a file for `--quantizer`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Optional

from ..compiled import Compiled
from ..payload.encode import Encoded
from ..quantization import configuration_file
from ..quantization.configuration import Configuration
from ..selection.preference import Preference
from ..targets.target import Target
from .limits import Figures, Limits


@dataclass(frozen=True)
class Price:
    """What a compiled model takes: predicted instructions of an inference, None if there is no model for a call; bytes
    of payloads; bytes of the largest arena, and of all RAM: arena, states, copied weights, and inputs and outputs that
    the caller keeps. `priced` are the instructions of the calls that have a prediction, and
    a multiplication each of the others, to compare with where there is no better number. `outside` functions stay
    outside of the delegate: what they take is unknown, so that no more of them count as cheaper."""

    instructions: Optional[int]
    flash: int
    arena: int
    ram: int
    priced: int
    outside: int = 0

    @staticmethod
    def of(parts: Sequence[Encoded], target: Target, outside: int = 0) -> Price:
        counts = [(call.choice.instructions(target), call.macs) for part in parts for call in part.calls]
        known = [count for count, _ in counts if count is not None]
        arenas = [part.plan.arena_bytes + sum(part.plan.region_bytes) for part in parts]
        beside = sum(
            part.plan.persistent_bytes
            + part.copies.nbytes
            + sum(x.nbytes for x in (*part.graph.inputs, *part.graph.outputs) if part.plan.offset_of(x) is None)
            for part in parts
        )
        return Price(
            instructions=sum(known) if len(known) == len(counts) else None,
            flash=sum(len(part.payload) for part in parts),
            arena=max(arenas, default=0),
            ram=max(arenas, default=0) + beside,
            priced=sum(macs if count is None else count for count, macs in counts),
            outside=outside,
        )

    def key(self, preference: Preference) -> tuple[int, ...]:
        """Returns what is to be little, the most important first."""
        taken = {
            Preference.SPEED: (self.priced, self.arena, self.flash),
            Preference.FLASH: (self.flash, self.priced, self.arena),
            Preference.RAM: (self.arena, self.priced, self.flash),
        }[preference]
        return (self.outside, *taken)


@dataclass(frozen=True)
class Outcome:
    """An assignment of formats that was compiled, such as "int8 throughout"."""

    name: str
    figures: Figures
    price: Optional[Price]


@dataclass(frozen=True)
class ChosenFormats:
    """The result of `choose_formats`.

    compiled: the model. configuration: how it was quantized, which `CmsisNnQuantizer.of` takes.
    formats: the format of each module that has a choice, by its name; "" is the model itself.
    outcome: the figures of the device on all of the data, and what the model takes.
    uniform: the same of one format throughout, with float inputs and outputs, in PyTorch and on some of the data if
        there is much of it.
    exact: the figures of the float model. computed_by: what computed the device's outputs.
    """

    compiled: Compiled
    configuration: Configuration
    limits: Limits
    formats: Mapping[str, str]
    outcome: Outcome
    uniform: tuple[Outcome, ...]
    exact: Figures
    computed_by: str

    @property
    def quantizer_file(self) -> str:
        """Returns the text of a file for `--quantizer`, with which a compilation gives the same payload."""
        about = f"# Chosen to keep {self.limits}: {self.outcome.name}, {self.outcome.figures}.\n"
        return about + configuration_file.dump(self.configuration)

    def render(self) -> str:
        """Returns a table of the choice next to one format throughout."""
        rows = [["", "SQNR", "top-1", "instructions", "flash", "arena"]]
        for outcome in (*self.uniform, self.outcome):
            figures, price = outcome.figures, outcome.price
            rows.append(
                [
                    f"chosen: {outcome.name}" if outcome is self.outcome else outcome.name,
                    "-" if figures.sqnr is None else f"{figures.sqnr:.2f} dB",
                    "-" if figures.top1 is None else f"{100 * figures.top1:.2f} %",
                    "-" if price is None or price.instructions is None else f"{price.instructions:,}",
                    "-" if price is None else f"{price.flash:,}",
                    "-" if price is None else f"{price.arena:,}",
                ]
            )
        if self.exact.top1 is None:
            rows = [[*row[:2], *row[3:]] for row in rows]
        widths = [max(map(len, column)) for column in zip(*rows)]
        lines = [f"Formats that keep {self.limits}, by {self.computed_by}:"]
        lines += [
            "  ".join([row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:]))])
            for row in rows
        ]
        if self.compiled.io != "float":
            lines.append("One format throughout is shown with float inputs and outputs.")
        return "\n".join(line.rstrip() for line in lines) + "\n"
