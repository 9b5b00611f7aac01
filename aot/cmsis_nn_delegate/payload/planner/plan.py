"""Places buffers in an arena: intervals, and bundles of intervals at fixed distances.

The algorithm:
1. A placement is made from an *order* of the buffers: each in turn gets the lowest aligned
   offset at which it overlaps no buffer that is already placed and alive at the same time.
2. Candidate orders come from three rules (size; size times lifetime; start), largest first.
3. If the best of them is above the lower bound (the largest live set), a hill climb follows:
   take a buffer that touches the peak, or one that lies under such a buffer, move it to a
   random earlier place in the order, and keep the new order unless it is worse. After a
   while without progress, restart from another rule's order, shuffled a little.
   A few buffers are placed in every order instead.
4. It stops at the bound, or after a fixed number of steps. Random numbers are seeded and
   the budget counts work, not time, so equal input gives an equal plan on every machine.
The result contains the bound, so that the gap to it is known: 0 means proven optimal.
"""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Optional

from .interval import Movable, align_up, lower_bound

_BUDGET = 4_000_000  # pairs of buffers looked at, about two seconds
_OF_A_BUFFER = 8  # what placing it takes, in pairs
_FEW = 6  # buffers, which have 720 orders
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


def place(buffers: Sequence[Movable], alignment: int = 16) -> Placement:
    """Returns offsets for `buffers`, multiples of `alignment` (a power of two), as those of the pieces of bundles must
    be; see the module docstring."""
    bound = lower_bound(buffers, alignment)
    search = _Search(buffers, alignment)
    orders = _rule_orders(buffers)
    best = min((search.place(order) for order in orders), key=search.peak, default=[])
    if search.peak(best) > bound:
        if len(buffers) <= _FEW:
            every = (search.place(order) for order in itertools.permutations(range(len(buffers))))
            best = min(every, key=search.peak)
        else:
            best = _climb(search, orders, best, bound)
    return Placement(tuple(best), search.peak(best), bound)


def _rule_orders(buffers: Sequence[Movable]) -> list[list[int]]:
    """Returns the orders of step 2; the index breaks ties."""

    def by(key: Callable[[Movable], Any]) -> list[int]:
        return sorted(range(len(buffers)), key=lambda i: (key(buffers[i]), i))

    if not buffers:
        return []
    return [
        by(lambda v: -v.size),
        by(lambda v: -v.size * (v.last - v.first + 1)),
        by(lambda v: (v.first, -v.size)),
    ]


class _Search:
    """Step 1. It computes everything that does not depend on the order once, and counts the work."""

    def __init__(self, buffers: Sequence[Movable], alignment: int) -> None:
        self.sizes = [align_up(buffer.size, alignment) for buffer in buffers]
        # Of each buffer, by neighbour: between which distances from the neighbour's start, exclusive, it must not lie.
        self.taken: list[dict[int, list[tuple[int, int]]]] = []
        for i, buffer in enumerate(buffers):
            around = ((j, _conflicts(buffer, other, alignment)) for j, other in enumerate(buffers) if j != i)
            self.taken.append({j: conflicts for j, conflicts in around if conflicts is not None})
        self.costs = [
            _OF_A_BUFFER + sum(max(len(conflicts), 1) for conflicts in around.values()) for around in self.taken
        ]
        self.work = 0

    def place(self, order: Sequence[int]) -> list[int]:
        offsets = [-1] * len(self.sizes)
        for i in order:
            taken = sorted(
                (offsets[j] + low, offsets[j] + high)
                for j, conflicts in self.taken[i].items()
                if offsets[j] >= 0
                for low, high in conflicts
            )
            self.work += self.costs[i]
            offset = 0
            for low, high in taken:
                if low >= offset:
                    break
                offset = max(offset, high)
            offsets[i] = offset
        return offsets

    def peak(self, offsets: Sequence[int]) -> int:
        return max((o + size for o, size in zip(offsets, self.sizes)), default=0)

    def culprits(self, offsets: Sequence[int]) -> list[int]:
        """Returns the buffers that touch the peak, and those that lie directly under such a buffer."""
        peak = self.peak(offsets)
        top = [i for i, size in enumerate(self.sizes) if offsets[i] + size == peak]
        below = {j for i in top for j in self.taken[i] if offsets[j] + self.sizes[j] == offsets[i]}
        return top + sorted(below.difference(top))


def _conflicts(buffer: Movable, other: Movable, alignment: int) -> Optional[list[tuple[int, int]]]:
    """Returns the distances from the start of `other` between which `buffer` must not start, exclusive; None if they
    are never alive together."""
    found, meet = [], False
    for at, piece in buffer.pieces:
        size = align_up(piece.size, alignment)
        for other_at, other_piece in other.pieces:
            if piece.meets(other_piece):
                meet = True
                if other_piece.size:
                    found.append((other_at - at - size, other_at + align_up(other_piece.size, alignment) - at))
    return found if meet else None


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
