"""Chooses the constants that init() copies to a fast memory: the pure function `choose_copies`.

Constants are taken in the order of how often an inference reads each of their bytes, the most often first; one that
no longer fits is passed over. Of equal ones the smaller comes first, then the one that is used first. As with every
knapsack that is filled so, another choice may serve a few more reads if much of the memory stays free.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Copyable:
    """A constant of `nbytes` > 0 bytes, with what kernels load past its end. An inference reads `reads` bytes of it,
    the same ones several times."""

    nbytes: int
    reads: int


def choose_copies(constants: Sequence[Copyable], room: int, alignment: int) -> tuple[int, ...]:
    """Returns the indices of the constants to copy, ascending, of which each begins at a multiple of `alignment`. They
    take at most `room` bytes."""
    order = sorted(
        range(len(constants)), key=lambda i: (-constants[i].reads / constants[i].nbytes, constants[i].nbytes, i)
    )
    chosen = []
    for index in order:
        nbytes = -(-constants[index].nbytes // alignment) * alignment
        if nbytes <= room:
            room -= nbytes
            chosen.append(index)
    return tuple(sorted(chosen))
