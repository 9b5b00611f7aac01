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
import operator
import random
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Optional

from .interval import Movable, align_up, lower_bound

_BUDGET = 4_000_000  # pairs of buffers that would be looked at from the start each time, about half a second
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
        # Of each buffer, for each conflict with a neighbour: the neighbour, and between which distances from its start,
        # exclusive, the buffer must not lie.
        self.taken: list[list[tuple[int, int, int]]] = []
        self.neighbours: list[list[int]] = []
        self.cost = 0  # of placing all buffers
        for i, buffer in enumerate(buffers):
            around = [(j, _conflicts(buffer, other, alignment)) for j, other in enumerate(buffers) if j != i]
            found = [(j, conflicts) for j, conflicts in around if conflicts is not None]
            self.taken.append([(j, low, high) for j, conflicts in found for low, high in conflicts])
            self.neighbours.append([j for j, _ in found])
            self.cost += _OF_A_BUFFER + sum(max(len(conflicts), 1) for _, conflicts in found)
        self.work = 0

    def place(self, order: Sequence[int]) -> list[int]:
        offsets = [-1] * len(self.sizes)
        self.work += self.cost
        self._place(offsets, order, None)
        return offsets

    def place_again(
        self, offsets: Sequence[int], order: Sequence[int], first: int, limit: int
    ) -> Optional[tuple[list[int], int]]:
        """Returns `place(order)` and its peak; None if that is above `limit`. The buffers before order[first] are known
        to lie at `offsets`, whose peak is `limit`. The caller counts it as the work of `place`."""
        moved = [-1] * len(self.sizes)
        for i in order[:first]:
            moved[i] = offsets[i]
        if not self._place(moved, order[first:], limit):
            return None
        return moved, self.peak(moved)

    def _place(self, offsets: list[int], order: Sequence[int], limit: Optional[int]) -> bool:
        """Writes the offsets of the buffers in `order`; returns False as soon as one ends above `limit`."""
        for i in order:
            taken = [(offsets[j] + low, offsets[j] + high) for j, low, high in self.taken[i] if offsets[j] >= 0]
            taken.sort()
            offset = 0
            for low, high in taken:
                if low >= offset:
                    break
                if high > offset:
                    offset = high
            offsets[i] = offset
            if limit is not None and offset + self.sizes[i] > limit:
                return False
        return True

    def peak(self, offsets: Sequence[int]) -> int:
        return max(map(operator.add, offsets, self.sizes), default=0)

    def culprits(self, offsets: Sequence[int]) -> list[int]:
        """Returns the buffers that touch the peak, and those that lie directly under such a buffer."""
        peak = self.peak(offsets)
        top = [i for i, size in enumerate(self.sizes) if offsets[i] + size == peak]
        below = {j for i in top for j in self.neighbours[i] if offsets[j] + self.sizes[j] == offsets[i]}
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
    restart, best_peak = 0, search.peak(best)
    while search.work < _BUDGET:
        order = list(orders[restart % len(orders)])
        for _ in range(restart // len(orders)):
            i, j = generator.randrange(len(order)), generator.randrange(len(order))
            order[i], order[j] = order[j], order[i]
        restart += 1
        offsets = search.place(order)
        peak, culprits = search.peak(offsets), search.culprits(offsets)
        refused: set[tuple[int, int]] = set()  # moves in this order that raise the peak
        idle = 0
        while idle < _PATIENCE and search.work < _BUDGET:
            position = order.index(generator.choice(culprits))
            if position == 0:
                position = generator.randrange(len(order))
            earlier = generator.randrange(position + 1)
            idle += 1
            search.work += search.cost
            if (position, earlier) not in refused:
                moved = list(order)
                moved.insert(earlier, moved.pop(position))
                candidate = search.place_again(offsets, moved, earlier, peak)
                if candidate is None:
                    refused.add((position, earlier))
                else:
                    if candidate[1] < peak:
                        idle = 0
                    order, (offsets, peak) = moved, candidate
                    culprits, refused = search.culprits(offsets), set()
            if peak < best_peak:
                best, best_peak = offsets, peak
                if best_peak == bound:
                    return best
    return best
