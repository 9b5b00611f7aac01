"""docs/formats.md: what choosing the formats of layers gains."""

from __future__ import annotations

import re
from collections.abc import Mapping

from tests.coverage.format_networks import FORMAT_NETWORKS, FormatNetwork
from tests.coverage.format_outcome import FormatOutcome, Row

_HEAD = """<!-- Written by `bazel run //tests/coverage:format_survey -- --write`. Do not edit. -->
# Formats that the compiler chooses
What `cmsisnn compile` gains with `--min-sqnr` or `--max-drop` for trained networks, on a Cortex-M4: one format
throughout next to the formats that it chooses, by speed or, with `--prefer flash`, by the size of the payload.
[A guide](guides/quantization_and_accuracy.md#the-compiler-chooses-formats) says how. The networks are written in
`tests/coverage/format_networks.py`, with what they were trained for:

"""
_TABLE = """
Accuracy, and the signal to noise ratio (SQNR) to the float network, are of outputs as the device's kernels compute
them, on data that was held out: neither trained nor calibrated with, nor used to choose formats. What is asked was kept
on the data for that choice, and may be missed a little on other data; "-1 %" allows as many labels fewer than in float.
If biases are corrected in the chosen formats, they are in all rows. All rows of a network are compiled with the same
`--prefer`: to save flash, kernels compute anew what the payload keeps for speed. Instructions are predicted; payload
and arena are bytes. Seconds are those of the search, which uses one core of a PC. 100.0 dB stands for all above: those
of float32 are rounding errors, which differ between machines.

| network | asked | formats | accuracy | SQNR | instructions | payload | arena | seconds |
|---|---|---|---|---|---|---|---|---|
"""
_TRAINED = """
`mobilenet_v3_small` and `rnnoise` are trained each time that this is measured. Another machine trains slightly
different weights, so that their figures differ there. Those of `mobilenet_v3_small` are from before convolutions by
pairs took 1 % fewer instructions.

"""

_MOST_NAMED = 10  # modules, of which the names say something


def text(outcomes: Mapping[str, FormatOutcome]) -> str:
    tasks, lines, notes = [], [], []
    for name, outcome in outcomes.items():
        network = FORMAT_NETWORKS[name]
        tasks.append(f"- `{name}` {network.task} {_accuracy(outcome.without, network.unit)}.")
        exact = _accuracy(outcome.exact, network.unit)
        lines.append(f"| {name} | | float, in PyTorch | {exact} | | | | | |")
        last = outcome.rows[-1] if not outcome.refused else None
        for row in outcome.rows:
            chosen = row is last
            cells = [
                name,
                _asked(network) if chosen else "",
                f"**{row.name}**" if chosen else row.name,
                _accuracy(row.accuracy, network.unit),
                f"{row.sqnr:.1f} dB",
                "-" if row.instructions is None else f"{row.instructions:,}",
                f"{row.flash:,}",
                f"{row.arena:,}",
                f"{outcome.seconds:.0f}" if chosen else "",
            ]
            lines.append(f"| {' | '.join(cells)} |".replace("  ", " "))
        if outcome.refused:
            notes.append(f"- `{name}`: {outcome.refused}.")
        elif 0 < len(outcome.modules) <= _MOST_NAMED:
            modules = ", ".join(f"`{module}`" if module else "the model itself" for module in outcome.modules)
            notes.append(f"- `{name}`: other formats than the first have {modules}.")
    return "".join([_HEAD, *(f"{task}\n" for task in tasks), _TABLE, *(f"{line}\n" for line in lines), _TRAINED]) + (
        "".join(f"{note}\n" for note in notes)
    )


def _accuracy(accuracy: float, unit: str) -> str:
    return f"{accuracy:.2f} dB" if unit == "dB" else f"{accuracy:.1f} {unit}"


def _asked(network: FormatNetwork) -> str:
    limits = network.limits
    kept = f"{limits.min_sqnr:g} dB" if limits.max_drop is None else f"-{100 * limits.max_drop:g} %"
    return f"{kept}, {network.prefer}"


def line(name: str, outcome: FormatOutcome) -> str:
    rows = "; ".join(
        f"{row.name}: {row.accuracy:.2f}, {row.sqnr:.1f} dB, {row.instructions or 0:,}" for row in outcome.rows
    )
    return f"{name}: {outcome.without:.2f} without, {outcome.exact:.2f} in float; {rows} {outcome.refused}"


def rows(report: str) -> dict[str, list[Row]]:
    """Returns the rows of the report by network, without those of the float networks in PyTorch."""
    found: dict[str, list[Row]] = {}
    for match in re.finditer(
        r"^\| (\w+) \|[^|]*\| ([^|]+) \| ([\d.]+) (?:dB|%) \| ([\d.]+) dB \| ([\d,-]+) \| ([\d,]+) \| ([\d,]+) \|",
        report,
        re.M,
    ):
        name, formats, accuracy, sqnr, *counts = match.groups()
        instructions, flash, arena = (None if count == "-" else int(count.replace(",", "")) for count in counts)
        row = Row(formats.strip("*"), float(accuracy), float(sqnr), instructions, flash or 0, arena or 0)
        found.setdefault(name, []).append(row)
    return found
