"""Spreads buffers over several memories: the pure function `spread`.

The last memory, the slowest, is filled last. A faster one gets the buffers that are touched the most:
1. Buffers are taken in a certain *order*. Each goes into the fastest memory that may hold it and in which there is an
   aligned offset at which it overlaps no buffer that is already there and alive at the same time; it gets the lowest
   such offset. Those that fit into no faster memory go into the last one, which may hold all of them.
2. The last memory is planned by `plan.place`, the others too, if that takes no more than step 1 did.
3. This is done with three orders: bytes touched for each byte of the buffer, bytes touched, and size, each largest
   first. Of the results with the lowest excess of the last memory over its size, the one is taken with the fewest
   bytes touched there, and of these with the fewest in the memory before, and so on.
The result is a heuristic, and equal for equal input; `bound` says of each memory what its buffers take at least.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Optional

from .interval import Movable, align_up, live_bytes
from .plan import place


@dataclass(frozen=True)
class Filling:
    """What one memory holds. Sizes are bytes; `nbytes` is a multiple of the alignment."""

    buffers: tuple[int, ...]  # indices, ascending
    offsets: tuple[int, ...]  # of these
    nbytes: int
    live: tuple[int, ...]  # in each step
    touched: int

    @property
    def bound(self) -> int:
        """Returns what no placement of these buffers is below."""
        return max(self.live, default=0)


def spread(
    buffers: Sequence[Movable],
    touched: Sequence[int],
    allowed: Sequence[Collection[int]],
    sizes: Sequence[int],
    alignment: int,
) -> tuple[Filling, ...]:
    """Returns what each memory holds; `sizes` are those of the memories, the fastest first. All but the last one are
    within their sizes: the caller checks whether that one is too.

    `touched` has for each buffer the bytes that are read and written there; `allowed` has for each memory but the last
    one the indices of the buffers that may lie there.
    """
    best: tuple[Filling, ...] = ()
    for key in (
        lambda i: touched[i] / max(buffers[i].size, 1),
        lambda i: touched[i],
        lambda i: buffers[i].size,
    ):
        order = sorted(range(len(buffers)), key=lambda i: (-key(i), -buffers[i].size, i))
        found = _fill(buffers, touched, allowed, order, sizes, alignment)
        if not best or _cost(found, sizes[-1]) < _cost(best, sizes[-1]):
            best = found
    return best


def _cost(fillings: Sequence[Filling], last_size: int) -> tuple[int, ...]:
    return max(fillings[-1].nbytes - last_size, 0), *(filling.touched for filling in reversed(fillings))


def _fill(
    buffers: Sequence[Movable],
    touched: Sequence[int],
    allowed: Sequence[Collection[int]],
    order: Sequence[int],
    sizes: Sequence[int],
    alignment: int,
) -> tuple[Filling, ...]:
    fillings = []
    rest = list(order)
    for size, may in zip(sizes, allowed):
        room = size - size % alignment
        offsets: dict[int, int] = {}
        for index in (index for index in rest if index in may):
            offset = _lowest_offset(buffers, offsets, index, alignment)
            if offset + buffers[index].size <= room:
                offsets[index] = offset
        rest = [index for index in rest if index not in offsets]
        fillings.append(_filling(buffers, touched, offsets, alignment))
    last = set(range(len(buffers))).difference(*(filling.buffers for filling in fillings))
    return *fillings, _filling(buffers, touched, {index: None for index in last}, alignment)


def _filling(
    buffers: Sequence[Movable], touched: Sequence[int], offsets: Mapping[int, Optional[int]], alignment: int
) -> Filling:
    """Returns a memory with the buffers of `offsets`, at these or lower ones; None is any."""
    indices = sorted(offsets)
    inside = [buffers[index] for index in indices]
    placement = place(inside, alignment)
    given = [offsets[index] for index in indices]
    end = max((o + b.size for o, b in zip(given, inside) if o is not None), default=0)
    placed = placement.offsets
    peak = placement.peak
    if indices and None not in given and end < peak:
        placed, peak = tuple(o for o in given if o is not None), end
    return Filling(
        buffers=tuple(indices),
        offsets=tuple(placed),
        nbytes=align_up(peak, alignment),
        live=tuple(live_bytes(inside, alignment)),
        touched=sum(touched[index] for index in indices),
    )


def _lowest_offset(buffers: Sequence[Movable], offsets: Mapping[int, int], index: int, alignment: int) -> int:
    """Returns the lowest offset at which buffer `index` overlaps none of those at `offsets`."""
    blocked = []  # the offsets in between are impossible, exclusive
    for other, offset in offsets.items():
        for at, piece in buffers[index].pieces:
            for other_at, other_piece in buffers[other].pieces:
                if piece.meets(other_piece):
                    begin = offset + other_at
                    blocked.append((begin - at - piece.size, begin + other_piece.size - at))
    lowest = 0
    for begin, end in sorted(blocked):
        if begin < lowest < end:
            lowest = align_up(end, alignment)
    return lowest
