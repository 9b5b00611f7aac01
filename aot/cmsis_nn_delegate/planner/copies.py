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
    """A constant of `nbytes` > 0 bytes. An inference reads `reads` bytes of it, the same ones several times. Kernels
    load `past` bytes behind its end, whatever these are."""

    nbytes: int
    reads: int
    past: int = 0


def choose_copies(constants: Sequence[Copyable], room: int, alignment: int) -> tuple[int, ...]:
    """Returns the indices of the constants to copy, ascending. They take at most `room` bytes in this order, as
    `bytes_of` counts them."""
    order = sorted(
        range(len(constants)), key=lambda i: (-constants[i].reads / constants[i].nbytes, constants[i].nbytes, i)
    )
    chosen: list[int] = []
    for index in order:
        more = sorted([*chosen, index])
        if bytes_of([constants[i] for i in more], alignment) <= room:
            chosen = more
    return tuple(chosen)


def bytes_of(copies: Sequence[Copyable], alignment: int) -> int:
    """Returns what `copies` take one after the other, each at a multiple of `alignment`, up to the last byte that
    kernels load."""
    begin = end = 0
    for copy in copies:
        end = max(end, begin + copy.nbytes + copy.past)
        begin += -(-copy.nbytes // alignment) * alignment
    return -(-max(begin, end) // alignment) * alignment
