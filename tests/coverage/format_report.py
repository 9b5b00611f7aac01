"""docs/formats.md: what choosing the formats of layers gains."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tests.coverage.format_outcome import FormatOutcome, Row

_HEAD = """<!-- Written by `bazel run //tests/coverage:format_survey -- --write`. Do not edit. -->
# Formats that the compiler chooses
What `cmsisnn compile --min-sqnr` gains for networks whose layers need different formats, on a Cortex-M4: the signal to
noise ratio (SQNR) to the float network, predicted instructions, and bytes of payload and arena, of one format
throughout and of the chosen ones. [A guide](guides/quantization_and_accuracy.md#the-compiler-chooses-formats) says how.

The networks are written in `tests/coverage/format_networks.py`. Weights and data are random, so that trained networks
have other ratios. Seconds are those of the search, which uses one core of a PC. 100.0 dB stands for all above: those of
float32 are rounding errors, which differ between machines.

Instructions of `mobilenet_v3_small` and `rnnoise` are older than those of `denoising_unet`: depthwise convolutions of
5 x 5 in int16, means of a single window, and windows of convolutions take fewer since, and searches correct biases.

| network | asked | formats | SQNR | instructions | payload | arena | seconds |
|---|---|---|---|---|---|---|---|
"""


def text(outcomes: Mapping[str, FormatOutcome]) -> str:
    lines, notes = [], []
    for name, outcome in outcomes.items():
        last = outcome.rows[-1] if not outcome.refused else None
        for row in outcome.rows:
            chosen = row is last
            cells = [
                name,
                f"{outcome.limit:g} dB" if chosen else "",
                f"**{row.name}**" if chosen else row.name,
                f"{row.sqnr:.1f} dB",
                "-" if row.instructions is None else f"{row.instructions:,}",
                f"{row.flash:,}",
                f"{row.arena:,}",
                f"{outcome.seconds:.0f}" if chosen else "",
            ]
            lines.append(f"| {' | '.join(cells)} |".replace("  ", " "))
        if outcome.refused:
            notes.append(f"- `{name}`: {outcome.refused}.")
        elif outcome.modules:
            modules = ", ".join(f"`{module}`" if module else "the model itself" for module in outcome.modules)
            notes.append(f"- `{name}`: wider are {modules}.")
    return _HEAD + "\n".join(lines) + "\n\n" + "\n".join(notes) + ("\n" if notes else "")


def line(name: str, outcome: FormatOutcome) -> str:
    rows = "; ".join(f"{row.name}: {row.sqnr:.1f} dB, {row.instructions or 0:,}" for row in outcome.rows)
    return f"{name}: {rows} {outcome.refused}"


def rows(report: str) -> dict[str, list[Row]]:
    """Returns the rows of the report by network."""
    found: dict[str, list[Row]] = {}
    for match in re.finditer(
        r"^\| (\w+) \|[^|]*\| ([^|]+) \| ([\d.]+) dB \| ([\d,-]+) \| ([\d,]+) \| ([\d,]+) \|", report, re.M
    ):
        name, formats, sqnr, *counts = match.groups()
        instructions, flash, arena = (None if count == "-" else int(count.replace(",", "")) for count in counts)
        found.setdefault(name, []).append(Row(formats.strip("*"), float(sqnr), instructions, flash or 0, arena or 0))
    return found
