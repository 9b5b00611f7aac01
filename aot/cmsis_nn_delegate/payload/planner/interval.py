"""Buffers as intervals of time, and what holds for every placement of them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass


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


def align_up(size: int, alignment: int) -> int:
    """Returns the smallest multiple of `alignment` that is at least `size`."""
    return -(-size // alignment) * alignment


def live_bytes(intervals: Sequence[Interval], alignment: int) -> list[int]:
    """Returns the sum of the aligned sizes of all live buffers, for every step from 0 to the last one."""
    changes: dict[int, int] = defaultdict(int)
    for interval in intervals:
        size = align_up(interval.size, alignment)
        changes[interval.first] += size
        changes[interval.last + 1] -= size
    live, total = [], 0
    for step in range(max(changes, default=0)):
        total += changes[step]
        live.append(total)
    return live


def lower_bound(intervals: Sequence[Interval], alignment: int) -> int:
    """Returns the size of the largest live set; no placement needs less."""
    return max(live_bytes(intervals, alignment), default=0)


def find_overlap(intervals: Sequence[Interval], offsets: Sequence[int]) -> tuple[int, int] | None:
    """Returns the indices of two buffers that share a byte in some step; None if there are none.

    Written for checking, without the planner's shortcuts.
    """
    for i, (a, a_offset) in enumerate(zip(intervals, offsets)):
        for j in range(i):
            b, b_offset = intervals[j], offsets[j]
            share_memory = a_offset < b_offset + b.size and b_offset < a_offset + a.size
            if a.meets(b) and share_memory:
                return j, i
    return None
