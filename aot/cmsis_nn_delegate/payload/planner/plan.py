"""Places intervals in an arena.

The algorithm:
1. A placement is made from an *order* of the buffers: each in turn gets the lowest aligned
   offset at which it overlaps no buffer that is already placed and alive at the same time.
2. Candidate orders come from three rules (size; size times lifetime; start), largest first.
3. If the best of them is above the lower bound (the largest live set), a hill climb follows:
   take a buffer that touches the peak, or one that lies under such a buffer, move it to a
   random earlier place in the order, and keep the new order unless it is worse. After a
   while without progress, restart from another rule's order, shuffled a little.
4. It stops at the bound, or after a fixed number of steps. Random numbers are seeded and
   the budget counts work, not time, so equal input gives an equal plan on every machine.
The result contains the bound, so that the gap to it is known: 0 means proven optimal.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from .interval import Interval, align_up, lower_bound

_BUDGET = 4_000_000  # pairs of buffers looked at, about two seconds
_PATIENCE = 400  # moves without progress before a restart


@dataclass(frozen=True)
class Placement:
    """The offset of every buffer, the bytes that they take together, and the lower bound of that."""

    offsets: tuple[int, ...]
    peak: int
    bound: int

    @property
    def gap(self) -> int:
        return self.peak - self.bound


def place(intervals: Sequence[Interval], alignment: int = 16) -> Placement:
    """Returns offsets for `intervals`, multiples of `alignment` (a power of two); see the module docstring."""
    bound = lower_bound(intervals, alignment)
    search = _Search(intervals, alignment)
    orders = _rule_orders(intervals)
    best = min((search.place(order) for order in orders), key=search.peak, default=[])
    if search.peak(best) > bound:
        best = _climb(search, orders, best, bound)
    return Placement(tuple(best), search.peak(best), bound)


def _rule_orders(intervals: Sequence[Interval]) -> list[list[int]]:
    """Returns the orders of step 2; the index breaks ties."""

    def by(key: Callable[[Interval], Any]) -> list[int]:
        return sorted(range(len(intervals)), key=lambda i: (key(intervals[i]), i))

    if not intervals:
        return []
    return [
        by(lambda v: -v.size),
        by(lambda v: -v.size * (v.last - v.first + 1)),
        by(lambda v: (v.first, -v.size)),
    ]


class _Search:
    """Step 1. It computes everything that does not depend on the order once, and counts the work."""

    def __init__(self, intervals: Sequence[Interval], alignment: int) -> None:
        self.sizes = [align_up(interval.size, alignment) for interval in intervals]
        self.neighbours = [
            [j for j, other in enumerate(intervals) if j != i and interval.meets(other)]
            for i, interval in enumerate(intervals)
        ]
        self.work = 0

    def place(self, order: Sequence[int]) -> list[int]:
        offsets = [-1] * len(self.sizes)
        for i in order:
            taken = sorted(
                (offsets[j], offsets[j] + self.sizes[j])
                for j in self.neighbours[i]
                if offsets[j] >= 0 and self.sizes[j]
            )
            self.work += len(self.neighbours[i]) + 1
            offset = 0
            for start, end in taken:
                if start >= offset + self.sizes[i]:
                    break
                offset = max(offset, end)
            offsets[i] = offset
        return offsets

    def peak(self, offsets: Sequence[int]) -> int:
        return max((o + size for o, size in zip(offsets, self.sizes)), default=0)

    def culprits(self, offsets: Sequence[int]) -> list[int]:
        """Returns the buffers that touch the peak, and those that lie directly under such a buffer."""
        peak = self.peak(offsets)
        top = [i for i, size in enumerate(self.sizes) if offsets[i] + size == peak]
        below = {j for i in top for j in self.neighbours[i] if offsets[j] + self.sizes[j] == offsets[i]}
        return top + sorted(below.difference(top))


def _climb(search: _Search, orders: Sequence[list[int]], best: list[int], bound: int) -> list[int]:
    """Step 3: returns the best offsets found within the budget, never worse than `best`."""
    generator = random.Random(len(search.sizes))
    restart = 0
    while search.work < _BUDGET:
        order = list(orders[restart % len(orders)])
        for _ in range(restart // len(orders)):
            i, j = generator.randrange(len(order)), generator.randrange(len(order))
            order[i], order[j] = order[j], order[i]
        restart += 1
        offsets = search.place(order)
        idle = 0
        while idle < _PATIENCE and search.work < _BUDGET:
            moved = list(order)
            position = moved.index(generator.choice(search.culprits(offsets)))
            if position == 0:
                position = generator.randrange(len(moved))
            moved.insert(generator.randrange(position + 1), moved.pop(position))
            candidate = search.place(moved)
            idle += 1
            if search.peak(candidate) <= search.peak(offsets):
                if search.peak(candidate) < search.peak(offsets):
                    idle = 0
                order, offsets = moved, candidate
            if search.peak(offsets) < search.peak(best):
                best = offsets
                if search.peak(best) == bound:
                    return best
    return best
