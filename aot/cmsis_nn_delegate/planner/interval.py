"""Buffers as intervals of time, bundles of them, and what holds for every placement."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Union


@dataclass(frozen=True)
class Interval:
    """A buffer of `size` bytes that is alive from step `first` to step `last`, both inclusive."""

    size: int
    first: int
    last: int

    def __post_init__(self) -> None:
        if self.size < 0 or not 0 <= self.first <= self.last:
            raise ValueError(f"not an interval: {self.size} bytes in [{self.first}, {self.last}]")

    def meets(self, other: Interval) -> bool:
        """Returns whether both are alive in some step."""
        return self.first <= other.last and other.first <= self.last

    @property
    def pieces(self) -> tuple[tuple[int, Interval], ...]:
        return ((0, self),)


@dataclass(frozen=True)
class Bundle:
    """Buffers at fixed distances: each piece is an offset and the buffer there. No two share a byte in some step."""

    pieces: tuple[tuple[int, Interval], ...]

    @property
    def size(self) -> int:
        """Returns the bytes from its start to the end of its last piece."""
        return max(offset + piece.size for offset, piece in self.pieces)

    @property
    def first(self) -> int:
        return min(piece.first for _, piece in self.pieces)

    @property
    def last(self) -> int:
        return max(piece.last for _, piece in self.pieces)


# What is placed as a whole. An interval is a bundle of one piece.
Movable = Union[Interval, Bundle]


def bundle_of(ranges: Sequence[tuple[int, Interval]], alignment: int) -> Movable:
    """Returns what memory `ranges`, offsets and the buffers there, take together; they may overlap.

    Pieces start and end at multiples of `alignment`, except at the end of the last one.
    """
    if len(ranges) == 1 and ranges[0][0] == 0:
        return ranges[0][1]  # as most are
    end = max(offset + buffer.size for offset, buffer in ranges)
    times = sorted({time for _, buffer in ranges for time in (buffer.first, buffer.last + 1)})
    pieces: list[tuple[int, Interval]] = []
    growing: dict[tuple[int, int], int] = {}  # the first step of what has been alive up to now, by begin and end
    for time in times:
        alive = set(_united([_rounded(offset, b, alignment, end) for offset, b in ranges if b.first <= time <= b.last]))
        for begin, stop in [key for key in growing if key not in alive]:
            pieces.append((begin, Interval(stop - begin, growing.pop((begin, stop)), time - 1)))
        for key in sorted(alive):
            growing.setdefault(key, time)
    return pieces[0][1] if len(pieces) == 1 and pieces[0][0] == 0 else Bundle(tuple(sorted(pieces, key=_by_place)))


def _by_place(piece: tuple[int, Interval]) -> tuple[int, int]:
    return piece[0], piece[1].first


def _rounded(offset: int, buffer: Interval, alignment: int, end: int) -> tuple[int, int]:
    return offset - offset % alignment, min(align_up(offset + buffer.size, alignment), end)


def _united(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Returns disjoint ranges that contain the same bytes, in order."""
    united: list[tuple[int, int]] = []
    for begin, end in sorted(ranges):
        if united and begin <= united[-1][1]:
            united[-1] = united[-1][0], max(united[-1][1], end)
        else:
            united.append((begin, end))
    return united


def align_up(size: int, alignment: int) -> int:
    """Returns the smallest multiple of `alignment` that is at least `size`."""
    return -(-size // alignment) * alignment


def live_bytes(buffers: Sequence[Movable], alignment: int) -> list[int]:
    """Returns the sum of the aligned sizes of all live buffers, for every step from 0 to the last one."""
    changes: dict[int, int] = defaultdict(int)
    for _, interval in _pieces(buffers):
        size = align_up(interval.size, alignment)
        changes[interval.first] += size
        changes[interval.last + 1] -= size
    live, total = [], 0
    for step in range(max(changes, default=0)):
        total += changes[step]
        live.append(total)
    return live


def lower_bound(buffers: Sequence[Movable], alignment: int) -> int:
    """Returns the size of the largest live set; no placement needs less."""
    return max(live_bytes(buffers, alignment), default=0)


def find_overlap(buffers: Sequence[Movable], offsets: Sequence[int]) -> tuple[int, int] | None:
    """Returns the indices of two buffers that share a byte in some step, or twice that of one whose pieces do; None if
    there are none.

    Written for checking, without the planner's shortcuts.
    """
    pieces = [(i, offsets[i] + at, piece) for i, buffer in enumerate(buffers) for at, piece in buffer.pieces]
    for number, (i, a_offset, a) in enumerate(pieces):
        for j, b_offset, b in pieces[:number]:
            share_memory = a_offset < b_offset + b.size and b_offset < a_offset + a.size
            if a.meets(b) and share_memory:
                return j, i
    return None


def _pieces(buffers: Sequence[Movable]) -> list[tuple[int, Interval]]:
    return [piece for buffer in buffers for piece in buffer.pieces]
