"""Nested loops over the elements of a tensor: where a copy reads, and in which order."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Optional

import numpy as np


@dataclass(frozen=True)
class Loops:
    """Loops, the first outermost, that start at element `offset`; strides count elements."""

    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int = 0

    @property
    def steps(self) -> int:
        return math.prod(self.sizes)

    def elements(self) -> np.ndarray:
        """Returns the element that each step touches, in the order of the steps."""
        found = np.full(1, self.offset, np.int64)
        for size, stride in zip(self.sizes, self.strides):
            found = (found[:, None] + np.arange(size, dtype=np.int64) * stride).reshape(-1)
        return found

    def is_all_in_order(self, count: int) -> bool:
        """Returns whether these are all of `count` elements, in their order."""
        return self == through(count)


def through(count: int) -> Loops:
    """Returns the loops over `count` elements in their order."""
    return Loops((count,), (1,)) if count > 1 else Loops((), ())


def find_loops(elements: np.ndarray) -> Optional[Loops]:
    """Returns the fewest loops whose steps touch `elements` in this order, and None if no loops do.

    From the inside: the innermost loop goes on as long as the distance stays the same. That never ends within a loop of
    another solution, so that no solution has fewer.
    """
    sizes: list[int] = []
    strides: list[int] = []
    rest = elements
    while len(rest) > 1:
        distances = np.diff(rest)
        changes = np.flatnonzero(distances != distances[0])
        size = int(changes[0]) + 1 if len(changes) else len(rest)
        if len(rest) % size:
            return None
        rows = rest.reshape(-1, size)
        if np.any(np.diff(rows, axis=1) != distances[0]):
            return None
        sizes.insert(0, size)
        strides.insert(0, int(distances[0]))
        rest = rows[:, 0]
    return Loops(tuple(sizes), tuple(strides), int(rest[0]))


def row_major_strides(shape: Sequence[int]) -> tuple[int, ...]:
    """Returns the distance of neighbours along each dimension of a contiguous tensor."""
    return tuple(math.prod(shape[axis + 1 :]) for axis in range(len(shape)))
