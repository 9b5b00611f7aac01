"""Figures of docs/benchmarks.json that other documents repeat."""

from __future__ import annotations

import re
from collections.abc import Mapping

from benchmarks.measure import Measurement
from benchmarks.results import read_results

CORES = ("cortex-m4", "cortex-m55")
README_TABLE = "| network | arena M4 "


def measured(results: str) -> dict[tuple[str, str, str], Measurement]:
    """Returns the measurements in the text of docs/benchmarks.json by network, core, and providers or option of the
    compiler."""
    read = read_results(results)
    found = {(m.network, m.core, m.providers): m for m in read.measurements}
    return found | {(m.network, m.core, m.choice): m for m in read.choices}


def readme_cells(network: str, found: Mapping[tuple[str, str, str], Measurement]) -> list[str]:
    """Returns the cells of a network in README's table, without its name."""
    tuned, stock = ([found[network, core, providers] for core in CORES] for providers in ("tuned", "cmsis-nn"))
    cells = [*(f"{m.arena:,}" for m in tuned), *(f"{m.payload:,}" for m in tuned)]
    cells += [f"{a.inference / 1e6:.2f} → **{b.inference / 1e6:.2f}**" for a, b in zip(stock, tuned)]
    return [*cells, str(sum(m.differing for m in (*tuned, *stock)))]


def with_table(readme: str, found: Mapping[tuple[str, str, str], Measurement]) -> str:
    """Returns README with the rows of its table as they were measured."""
    before, heading, rest = readme.partition(README_TABLE)
    rows = re.match(r".*\n(?:\|.*\n)*", rest)[0]
    lines = rows.splitlines()
    for index, line in enumerate(lines[2:], 2):
        name = line.strip("| ").split(" | ")[0]
        lines[index] = f"| {' | '.join([name, *readme_cells(name.split()[0], found)])} |"
    return before + heading + "\n".join(lines) + "\n" + rest[len(rows) :]
