"""Cells and tables of the Markdown that benchmarks write."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Optional

from cmsis_nn_delegate.runner.simulate import Cycles


def total(cycles: Optional[Cycles], waits: Optional[Cycles]) -> Optional[Cycles]:
    """Returns cycles with the waits that memories add, None if one of them is not known."""
    return (cycles[0] + waits[0], cycles[1] + waits[1]) if cycles and waits else None


def millions(cycles: Optional[Cycles]) -> str:
    """Returns a range in millions: "4.769 to 4.952"."""
    return f"{cycles[0] / 1e6:.3f} to {cycles[1] / 1e6:.3f}" if cycles else "-"


def listed(names: Sequence[str]) -> str:
    """Returns "a, b and c"."""
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def table(titles: Sequence[str], rows: Iterable[Sequence[str]]) -> Iterator[str]:
    """Yields the lines of a table."""
    yield f"| {' | '.join(titles)} |"
    yield "|" + "---|" * len(titles)
    for row in rows:
        yield f"| {' | '.join(row)} |"
