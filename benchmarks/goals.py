"""Goals of the kernels next to what they take today, as Markdown: `render`.

Goals are tables below, and so is what is known of figures that miss them: `REASONS` and `NOT_DONE`. Figures of today
are read from the results, from the table of runtime/kernels/tuned/README.md (M0+ and M3), and from docs/sizes.md (flash
of kernels that are compiled for size). Floors are those of loops.py.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Optional

from benchmarks import boards, cycles, loops
from benchmarks.anchors import Anchors
from benchmarks.comparison import in_flash
from benchmarks.markdown import COMMAND
from benchmarks.measure import Measurement
from benchmarks.results import Results
from benchmarks.text import table, total

_ROOT = Path(__file__).parent.parent
SCALAR_TABLE = _ROOT / "runtime/kernels/tuned/README.md"
SIZES = _ROOT / "docs/sizes.md"

MLPERF = ("ds_cnn", "resnet8", "mobilenet_v1_025", "autoencoder")
OTHERS = ("transformer_encoder", "bc_resnet", "text_transformer", "tcn")
WINOGRAD = "resnet8, `--max-flash-growth`"
_INSTRUCTIONS, _CYCLES, _FLASH, _SMALL, _ARENA = "instructions", "cycles", "flash", "flash, for size", "arena"

# Millions, in the order of MLPERF, and of resnet8 with any --max-flash-growth.
INSTRUCTIONS: Mapping[str, tuple[float, ...]] = {
    "cortex-m4": (2.9, 12.0, 4.9, 0.27, 7.5),
    "cortex-m55": (0.66, 1.85, 1.30, 0.045),
    "cortex-m3": (5.5, 25, 10, 0.6),
    "cortex-m0plus": (10.5, 47, 20, 1.1),
}
CYCLES: Mapping[str, tuple[float, ...]] = {
    "cortex-m4": (3.9, 16.5, 6.6, 0.36, 10.5),
    "cortex-m7": (2.2, 8.8, 4.0, 0.20, 5.8),
    "cortex-m33": (3.8, 16.2, 6.5, 0.35, 10.4),
    "cortex-m55": (0.80, 2.3, 1.55, 0.055),
    "cortex-m85": (0.75, 2.2, 1.5, 0.05),
}
# Millions, in the order of OTHERS.
OTHER_INSTRUCTIONS: Mapping[str, tuple[float, ...]] = {
    "cortex-m55": (1.2, 0.9, 0.2, 0.15),
    "cortex-m4": (3.0, 3.0, 0.4, 0.48),
}
# Bytes of images and arenas when the goals were set, in the order of MLPERF: docs/benchmarks.json of 2026-11-26.
FLASH_BEFORE: Mapping[str, tuple[int, ...]] = {
    "cortex-m4": (47_528, 98_236, 266_208, 289_356),
    "cortex-m55": (49_753, 100_205, 262_505, 290_637),
}
FLASH_GROWTH = 2048
ARENAS_BEFORE: Mapping[str, tuple[int, ...]] = {
    "cortex-m4": (8_896, 34_160, 37_904, 768),
    "cortex-m55": (10_368, 33_808, 39_232, 768),
}
FOR_SIZE = 9_216  # less than this


@dataclass(frozen=True)
class Row:
    """A goal. `today` is the least and the most, which are the same for what is counted, and None if nothing says it.
    Instructions and cycles are counts, the others bytes."""

    what: str
    core: str
    network: str
    goal: float
    today: Optional[tuple[float, float]]
    floor: Optional[float] = None

    @property
    def change(self) -> tuple[float, float]:
        """By how much the least and the most exceed the goal, as a share of it."""
        assert self.today is not None
        return self.today[0] / self.goal - 1, self.today[1] / self.goal - 1

    @property
    def met(self) -> bool:
        return self.today is not None and self.today[1] <= self.goal

    @property
    def missed(self) -> bool:
        return self.today is not None and self.today[0] > self.goal

    @property
    def below_floor(self) -> bool:
        return self.floor is not None and self.goal < self.floor

    def result(self) -> str:
        if self.today is None:
            return "not known"
        least, most = (100 * share for share in self.change)
        if self.met:
            return "met"
        if self.missed:
            by = f"{least:.1f} %" if least == most else f"{least:.1f} to {most:.1f} %"
            return f"missed by {by}" + (" (the floor is above the goal)" if self.below_floor else "")
        return f"open: {-least:.1f} % below to {most:.1f} % above"


@dataclass(frozen=True)
class Reason:
    """Why the rows of these cores and networks are not met, and what was tried."""

    what: str
    cores: tuple[str, ...]
    networks: tuple[str, ...]
    why: str
    tried: str

    def is_of(self, row: Row) -> bool:
        return row.what == self.what and row.core in self.cores and row.network in self.networks


REASONS = (
    Reason(
        _INSTRUCTIONS,
        ("cortex-m4",),
        ("ds_cnn",),
        "Depthwise layers have images of 25 x 5 outputs. They are computed two by two, so that a row and a column "
        "of results are computed and thrown away, and their inputs are widened to planes row by row. The first "
        "layer gathers windows of 10 x 4 bytes of one channel.",
        "Planes in the place of CMSIS-NN's function (5.11 to 3.57 million), windows gathered in whole words, "
        "weights of two channels in 16 bits (3.55 to 3.14 million).",
    ),
    Reason(
        _INSTRUCTIONS,
        ("cortex-m4",),
        ("mobilenet_v1_025",),
        "The first layer gathers lines of nine bytes. Depthwise layers with stride 2 fill planes of twice as many "
        "columns, and those of 3 x 3 and 6 x 6 outputs have few results for what a row takes once. Channels that "
        "are left of trained layers are often no multiple of four or eight, which the loops need.",
        "Windows gathered in whole words (6.54 to 6.31 million), what is left of their lines by words (first layer "
        "1.13 to 1.09 million) and in assembly, weights of two channels in 16 bits (6.35 to 5.86 million), the next "
        "windows of a row without a look at where they are (5.70 to 5.55 million), strips without columns that have to "
        "be cleared (5.55 to 5.54 million).",
    ),
    Reason(
        _INSTRUCTIONS,
        ("cortex-m4",),
        ("autoencoder",),
        "The compiler gives weights of two channels 16 bits only where it proves that no sum of every second "
        "channel exceeds 23 bits, and that no weight of -128 stands beside a negative one. Of the first layer, "
        "with 640 inputs, it does not, so that 64 products take 83 instructions in the place of 65. Results of "
        "form ANY, such as those of the last layer, take 19 in the place of 10.",
        "Weights of two channels in 16 bits (0.348 to 0.299 million).",
    ),
    Reason(
        _INSTRUCTIONS,
        ("cortex-m4",),
        (WINOGRAD,),
        "What transforms inputs and sums is C++, and the floor has none of it. 64 products take 47 instructions, "
        "because a transformed weight takes 16 bits, so that two do not share them.",
        "Products in assembly, with transforms in C++ that use instructions of DSP. We know of no attempt at "
        "transforms in assembly.",
    ),
    Reason(
        _INSTRUCTIONS,
        ("cortex-m3",),
        MLPERF,
        "Each product is an MLA, with loads of single bytes, and what widens the inputs of windows is C++, which "
        "the floor does not have. Eight results of form ANY take 123 instructions in the place of 57.",
        "Requantization in assembly, sums of eight channels in linear layers (ds_cnn 6.48 to 5.79, resnet8 29.82 "
        "to 28.19, mobilenet 11.86 to 9.91, autoencoder 0.70 to 0.59 million). Two windows in one multiplication "
        "were counted and not built: [tuned kernels](../runtime/kernels/tuned/README.md) say why.",
    ),
    Reason(
        _INSTRUCTIONS,
        ("cortex-m0plus",),
        MLPERF,
        "The floor has neither what widens inputs nor results of convolutions, which are C++ with long products of "
        "four short ones. For the autoencoder it is no further below the goal than a rounding.",
        "One multiplication for two windows, depthwise convolutions by rows (54 instructions an output in the "
        "place of 322), requantization by one product where the compiler proves it. Linear layers have a single "
        "row, so that two windows cannot share a product.",
    ),
    Reason(
        _INSTRUCTIONS,
        ("cortex-m55",),
        ("resnet8",),
        "The floor is within a few percent of the goal, and has no borders: windows that reach beyond the image "
        "are filled, and tiles of four windows end at rows. The first layer has windows of 27 inputs, which fill "
        "no vectors.",
        "Columns and lines of few channels copied three at a time (2.091 to 2.046 million), weights loaded between "
        "products, which changes cycles alone.",
    ),
    Reason(
        _INSTRUCTIONS,
        ("cortex-m55",),
        ("mobilenet_v1_025",),
        "The first layer has windows of 27 inputs, which fill no vectors, and lines that are copied for each "
        "window. Depthwise layers take 21 instructions once for a channel of a strip; those with stride 2, or with "
        "6 x 6 outputs and fewer, have a kernel of twice as many instructions an output.",
        "Whole windows by one vector (1.635 to 1.506 million; for short rows and stride 2 it took as many as the "
        "other kernel, or more), lines copied window by window (1.516 to 1.436 million), strips of as many outputs as "
        "memory allows (1.436 to 1.410 million).",
    ),
    Reason(
        _CYCLES,
        ("cortex-m4",),
        (*MLPERF, WINOGRAD),
        "What calls take more than their loops, in the table below. Loads and branches that are taken take more than "
        "one cycle.",
        "What saves instructions; the payload in RAM, as in this row. We know of no attempt to put instructions "
        "into another order for this core.",
    ),
    Reason(
        _CYCLES,
        ("cortex-m33",),
        (*MLPERF,),
        "The loops are those of M4, above, and so is what is missing.",
        "Nothing for this core alone: kernels are chosen by the instruction set.",
    ),
    Reason(
        _CYCLES,
        ("cortex-m7",),
        (*MLPERF,),
        "The goal lies within the range, and no board says where in it the core is: those that are published "
        "are of programs that we cannot run. The loops are those of M4, in an order that was not made for two "
        "instructions a cycle.",
        "Nothing for this core alone: see dual issue, below.",
    ),
    Reason(
        _CYCLES,
        ("cortex-m7", "cortex-m33"),
        (WINOGRAD,),
        "Options of the compiler are modelled on M4 alone, so that nobody knows.",
        "Nothing. It would take the measurements of `--max-flash-growth` for these cores too.",
    ),
    Reason(
        _CYCLES,
        ("cortex-m55",),
        (*MLPERF,),
        "What calls take more than their loops. Two loads or two products behind each other wait, so that 128 "
        "products of a convolution take 18 cycles by LLVM's model and not the 14 of their instructions.",
        "Weights loaded between products (20 to 18 cycles for 128 products by LLVM's model). With loads of the "
        "next vector among these products it says 16, and so does SLOTHY; no kernel has that order, which would "
        "take code of its own for the first and the last vector of a window. An order for depthwise loops that "
        "SLOTHY found was for the kernel that whole windows have replaced, and we know of no search for another "
        "one.",
    ),
    Reason(
        _CYCLES,
        ("cortex-m85",),
        (*MLPERF,),
        "The goal lies within the range. Its ends differ by whether instructions may end in another order than "
        "they began; programs on a board of others took less than the most.",
        "Nothing for this core alone: it has the kernels of M55.",
    ),
    Reason(
        _FLASH,
        ("cortex-m55",),
        ("ds_cnn", "mobilenet_v1_025"),
        "Kernels that take fewer instructions came beside those that were there: whole windows of depthwise "
        "convolutions, with columns in the place of rows, beside vectors of taps, which other calls of mobilenet "
        "still need; copies of columns and lines; means. A channel of whole windows takes 24 bytes in the place of "
        "21.",
        "An image links the parts of a kernel alone that its calls need, and means of whole images are a part now. "
        "Kernels for size leave the copies of strips out, and take fewer bytes than before.",
    ),
)


@dataclass(frozen=True)
class NotDone:
    """Something that was asked for with the goals and that the code does not have."""

    what: str
    because: str


NOT_DONE = (
    NotDone(
        "4 windows x 2 channels on M4",
        "not done. A loop with it takes 12 instructions for 16 products, as many as that of 2 windows and 4 "
        "channels has now, so that it saves no instructions, and by these the compiler chooses. It would read "
        "weights half as often, which saves waits with the payload in flash. It would take drivers for four "
        "windows, another order of the constants, and a choice by cycles in flash",
    ),
    NotDone(
        "Loops of M7 in an order for two instructions a cycle, chosen by the core",
        "not done. Kernels and payloads are chosen by the instruction set, which M4, M7 and M33 share, and two "
        "models disagree on what is gained: of a loop of 16 products SLOTHY says 10 cycles in the place of 16, "
        "LLVM's model sees nothing. It would take a name of the core in the lists of kernels, and a board that "
        "decides",
    ),
    NotDone(
        "A ring of padded rows without copies of windows, with MVE",
        "not done; we have no count of such a loop. It would take one that reads a window in as many pieces as the "
        "filter has rows. In the floor, which copies each column once, copies are {copies} of resnet8 on M55, so "
        "that it would gain no more than that and what is lost at borders",
    ),
    NotDone(
        "Winograd's transforms in assembly, with columns that tiles share",
        "not done. We know of no attempt, which would take assembly for the transforms of both directions. Of resnet8 "
        "with most flash, calls of this kernel take {winograd} instructions more than their products and results, and "
        "the transforms are part of that",
    ),
    NotDone(
        "Attention as one call",
        "not done. The transformers' goals, without: {attention}. It would save the scores' memory and some "
        "copies, and take an operator with its own checks, reference and kernels",
    ),
    NotDone(
        "Fused pairs: pointwise with depthwise, convolution with pool, linear with look-up",
        "not done. Memory is saved in another way: `--prefer ram` computes chains of convolutions in bands of "
        "rows, and the output of a depthwise convolution may lie over its input. What a fused kernel would save "
        "beside that is a store and a load of each element between the two, and it would take a kernel for each "
        "pair",
    ),
    NotDone(
        "Caches and waits of flash in the models of M7, M33, M55 and M85",
        "not done. It would take a model of a chip's memories for each, as "
        "[sim/qemu/m4_flash.h](../sim/qemu/m4_flash.h) is one of an STM32L4R5, and programs with known places in "
        "memory on such a board to compare it with. Figures here are for memories without waits",
    ),
    NotDone(
        "A comparison of the model of M7 with a board",
        "not done. pqm4 measures an M4. SLOTHY's papers have cycles of M7 for cryptography in assembly: it would "
        "take to compile these programs, and to run them under the model, as was done with pqm4 for M4",
    ),
)


def rows(results: Results) -> list[Row]:
    """Returns all goals with the figures of today. KeyError if `results` lack one of the networks or cores."""
    counted = {(m.network, m.core): m for m in results.measurements if m.providers == "tuned"}
    scalar = scalar_instructions(SCALAR_TABLE.read_text(encoding="utf-8"))
    fastest = winograd(results)
    found: list[Row] = []
    for core, goals in INSTRUCTIONS.items():
        for network, goal in zip((*MLPERF, WINOGRAD), goals):
            m = fastest if network == WINOGRAD else counted[network, "cortex-m4" if core in scalar else core]
            today = scalar[core][network] if core in scalar else m.inference
            found.append(Row(_INSTRUCTIONS, core, network, 1e6 * goal, (today, today), loops.floor(m, core)))
    for core, goals in CYCLES.items():
        found += _cycles(results, core, goals)
    for core, goals in OTHER_INSTRUCTIONS.items():
        for network, goal in zip(OTHERS, goals):
            m = counted[network, core]
            today = (m.inference, m.inference)
            found.append(Row(_INSTRUCTIONS, core, network, 1e6 * goal, today, loops.floor(m)))
    flash = {(entry.network, entry.core): entry.total for entry in results.flash if entry.providers == "tuned"}
    for core, before in FLASH_BEFORE.items():
        for network, size in zip(MLPERF, before):
            today = flash.get((network, core))  # None without the sources of CMSIS-NN
            found.append(Row(_FLASH, core, network, size + FLASH_GROWTH, (today, today) if today else None))
    small = size_of_small(SIZES.read_text(encoding="utf-8"))
    found.append(Row(_SMALL, "cortex-m4", "ds_cnn", FOR_SIZE - 1, (small, small)))
    for core, before in ARENAS_BEFORE.items():
        for network, size in zip(MLPERF, before):
            today = counted[network, core].arena
            found.append(Row(_ARENA, core, network, size, (today, today)))
    return found


def _cycles(results: Results, core: str, goals: Sequence[float]) -> Iterator[Row]:
    """Yields goals of cycles. The floor is that of instructions at the least cycles that one takes today."""
    counted = {m.network: m for m in results.measurements if (m.providers, m.core) == ("tuned", core)}
    on_m4 = {m.network: m for m in results.measurements if (m.providers, m.core) == ("tuned", "cortex-m4")}
    modelled = {m.network: m for m in results.modelled if (m.providers, m.core) == ("tuned", core)}
    for network, goal in zip((*MLPERF, WINOGRAD), goals):
        if core == "cortex-m4":
            m = winograd(results) if network == WINOGRAD else counted[network]
            today, instructions = total(m.cycles, m.code_waits), m.inference
        elif network not in modelled:  # WINOGRAD, and all without LLVM's tools
            yield Row(_CYCLES, core, network, 1e6 * goal, None)
            continue
        else:
            # Where calls were not counted on this core, they are those of M4.
            m = counted.get(network, on_m4[network])
            today, instructions = modelled[network].cycles, modelled[network].instructions
        assert today is not None, f"there are no cycles of {network} on {core}"
        yield Row(_CYCLES, core, network, 1e6 * goal, today, loops.floor(m, core) * today[0] / instructions)


def winograd(results: Results) -> Measurement:
    """Returns the fastest resnet8 on M4 of those with Winograd's algorithm."""
    found = [m for m in results.choices if (m.network, m.core) == ("resnet8", "cortex-m4") and "growth" in m.choice]
    return min(found, key=lambda m: m.inference)


def scalar_instructions(text: str) -> dict[str, dict[str, float]]:
    """Returns the instructions of networks on M0+ and M3 in the table of runtime/kernels/tuned/README.md."""
    table_of = re.search(
        r"\| network \| M0\+, CMSIS-NN \| M0\+, tuned \| M3, CMSIS-NN \| M3, tuned \|\n.*\n((?:\|.*\n)+)", text
    )
    assert table_of, "runtime/kernels/tuned/README.md has no table of networks on M0+ and M3 any more"
    cells = [line.strip("| ").split(" | ") for line in table_of[1].splitlines()]
    columns = {"cortex-m0plus": 2, "cortex-m3": 4}
    return {core: {row[0]: 1e6 * float(row[at]) for row in cells} for core, at in columns.items()}


def size_of_small(text: str) -> int:
    """Returns the flash of ds_cnn with kernels for size on M4, which docs/sizes.md has."""
    found = re.search(r"`ds_cnn_tuned` then takes ([\d,]+) bytes as C\+\+ calls on M4", text)
    assert found, "docs/sizes.md does not say any more what ds_cnn takes with kernels for size"
    return int(found[1].replace(",", ""))


def render(results: Results, anchors: Anchors) -> str:
    """Returns the document."""
    found = rows(results)
    parts = [
        _head(found),
        _section("Instructions, millions", found, (_INSTRUCTIONS,), MLPERF + (WINOGRAD,), _INSTRUCTIONS_TEXT),
        _section("Cycles, millions", found, (_CYCLES,), MLPERF + (WINOGRAD,), _cycles_text(results, anchors)),
        _section("Other networks, millions of instructions", found, (_INSTRUCTIONS,), OTHERS, _OTHERS_TEXT),
        _section("Flash and arenas, bytes", found, (_FLASH, _SMALL, _ARENA), MLPERF, _BYTES_TEXT),
        _above(results),
        _reasons(found),
        _not_done(results, found),
        _limits(),
    ]
    return "\n".join(parts)


def _head(found: Sequence[Row]) -> str:
    known = [row for row in found if row.today is not None]
    met, missed = (sum(getattr(row, name) for row in known) for name in ("met", "missed"))
    return "\n".join(
        [
            f"<!-- Written by `{COMMAND}`. Do not edit. -->",
            "# Goals of the kernels",
            *_paragraph(
                "What networks should take with tuned kernels, what they take today, and the floor of each: what "
                "the loops of "
                "the kernels alone would take ([what that is](#what-the-floor-is-and-what-it-is-not)). Figures "
                "of today are",
                "those of [benchmarks](benchmarks.md), with trained weights for the networks of MLPerf Tiny; "
                "those of M0+ and",
                "M3 are those of the [tuned kernels](../runtime/kernels/tuned/README.md), which no test compares.",
            ),
            "",
            *_paragraph(
                f"Of {len(found)} goals, {met} are met and {missed} are missed. {len(known) - met - missed} are "
                "open: they lie",
                f"within the range of a model. Of {len(found) - len(known)} nothing is known.",
                f"{sum(row.below_floor for row in found)} goals are below their floors, so that these loops "
                "cannot meet them.",
            ),
            "",
        ]
    )


def _paragraph(*sentences: str) -> list[str]:
    return textwrap.wrap(" ".join(filter(None, sentences)), 118, break_long_words=False, break_on_hyphens=False)


_INSTRUCTIONS_TEXT = (
    "With the default options of the compiler, and for resnet8 on M4 also with the most flash of "
    "[benchmarks](benchmarks.md#what-options-of-the-compiler-change) for Winograd's algorithm."
)
_OTHERS_TEXT = (
    "Networks of `tests/coverage` with random weights. The floor has their products alone, because nothing else "
    "of their "
    "shapes is kept."
)
_BYTES_TEXT = (
    f"Images of one network may take {FLASH_GROWTH:,} bytes more than when the goals were set, and arenas no more. Of "
    f"ds_cnn with kernels for size, flash without constants stays below {FOR_SIZE:,} bytes on M4."
)


def _cycles_text(results: Results, anchors: Anchors) -> str:
    sentences = (
        "All are modelled: on M4 with the payload in RAM and code in the flash of an STM32L4R5 at 120 MHz, on "
        "the others",
        f"for memories without wait states. {boards.sentence(boards.load())}: the upper end of M4 is the better guess.",
        *cycles.sentences(results.modelled, cycles.load()),
        in_flash(results, anchors),
    )
    return " ".join(filter(None, sentences))


def _section(title: str, found: Iterable[Row], what: Sequence[str], networks: Sequence[str], text: str) -> str:
    chosen = [row for row in found if row.what in what and row.network in networks]
    several, floors = len(what) > 1, any(row.floor is not None for row in chosen)
    cells = []
    for row in chosen:
        figures = [_figure(row, (row.goal, row.goal)), _figure(row, row.today)]
        if floors:
            figures.append(_figure(row, row.floor and (row.floor, row.floor)))
        cells.append([row.network, row.core, *([row.what] if several else []), *figures, row.result()])
    titles = [
        "network",
        "core",
        *(["what"] if several else []),
        "goal",
        "today",
        *(["floor"] if floors else []),
        "result",
    ]
    return "\n".join([f"## {title}", *_paragraph(text), "", *table(titles, cells), ""])


def _short(core: str) -> str:
    """Returns "M0+"."""
    return core.replace("cortex-m", "M").replace("plus", "+")


def _figure(row: Row, pair: Optional[tuple[float, float]]) -> str:
    if pair is None:
        return "-"
    in_millions = row.what in (_INSTRUCTIONS, _CYCLES)
    least, most = (f"{each / 1e6:.3f}" if in_millions else f"{each:,.0f}" for each in pair)
    return least if least == most else f"{least} to {most}"


_KINDS = ("first layer", "convolutions", "depthwise", "linear", "others")


def _kind(network: str, at: int, layer: loops.Layer) -> str:
    if layer.shape.kind == "convolution":
        return _KINDS[0] if at == 0 else _KINDS[1]
    return layer.shape.kind if layer.shape.kind in _KINDS else _KINDS[4]


def _above(results: Results) -> str:
    """Returns a table of where the instructions above the floor are."""
    cells = []
    for core in ("cortex-m4", "cortex-m55"):
        for m in results.measurements:
            if (m.core, m.providers) == (core, "tuned") and m.network in MLPERF:
                above = dict.fromkeys(_KINDS, 0.0)
                for at, layer in enumerate(loops.layers(m.network, m.calls)):
                    above[_kind(m.network, at, layer)] += m.calls[at].instructions - loops.floors(m)[at]
                above[_KINDS[4]] += m.executor
                cells.append(
                    [
                        m.network,
                        core,
                        f"{sum(above.values()) / 1e3:.1f}",
                        *(f"{each / 1e3:.1f}" for each in above.values()),
                    ]
                )
    return "\n".join(
        [
            "## Where the instructions above the floor are, thousands",
            "What calls take more than their loops. Others are additions, means, softmax, and the executor.",
            "",
            *table(["network", "core", "all", *_KINDS], cells),
            "",
        ]
    )


def _reasons(found: Sequence[Row]) -> str:
    lines = ["## Why goals are not met, and what was tried"]
    for reason in REASONS:
        of_reason = [row for row in found if reason.is_of(row) and not row.met]
        if of_reason:
            names = "; ".join(f"{row.network} on {_short(row.core)} {row.result()}" for row in of_reason)
            lines.append(f"- **{reason.what.capitalize()}:** {names}. {reason.why} *Tried:* {reason.tried}")
    return "\n".join([*lines, ""])


def _not_done(results: Results, found: Sequence[Row]) -> str:
    m55 = next(
        m for m in results.measurements if (m.network, m.core, m.providers) == ("resnet8", "cortex-m55", "tuned")
    )
    fastest = winograd(results)
    pairs = zip(fastest.calls, loops.floors(fastest))
    more = sum(call.instructions - floor for call, floor in pairs if call.kernel == "conv2d_winograd")
    transformers = [row for row in found if "transformer" in row.network]
    figures = {
        "copies": f"{100 * loops.copies(m55) / m55.inference:.1f} %",
        "winograd": f"{more / 1e6:.2f} million",
        "attention": ", ".join(f"{row.network} on {_short(row.core)} {row.result()}" for row in transformers),
    }
    return "\n".join(
        [
            "## Asked for with the goals, and not there",
            *(f"- **{entry.what}:** {entry.because.format(**figures)}." for entry in NOT_DONE),
            "",
        ]
    )


_LIMITS = (
    "It leaves out what a call does once, calls of functions, borders, and windows, rows and channels that do "
    "not fill a "
    "loop, and it takes all results as of the form that takes the fewest instructions. So no call reaches it.",
    "It is the floor of these loops, and none of the core: another loop or another algorithm may take less. What "
    "loads, "
    "stores and arithmetic alone take is in [floors](floors.md), and is lower.",
    "Of M0+ and M3 the calls are those of M4, and what these cores compute in C++ is not in it.",
    "Of cycles it is the floor of instructions times the least cycles that an instruction takes today on that core. "
    "Another order of the instructions may take fewer cycles, and so lower it.",
    "What the goals of M7 and M85 are worth, only a board can say: the ranges of their models are wide, and goals lie "
    "within them.",
    "Flash and arenas have no floor here. [Benchmarks](benchmarks.md) have the bound of each arena.",
)


def _limits() -> str:
    return "\n".join(
        [
            "## What the floor is, and what it is not",
            *_paragraph(
                "[benchmarks/loops.py](../benchmarks/loops.py) counts the instructions of the inner loops of the "
                "kernels, as the",
                "comments of their assembly do, for the products, results and inputs of each measured call, and "
                "no others.",
            ),
            "",
            *(f"- {text}" for text in _LIMITS),
            "",
        ]
    )
