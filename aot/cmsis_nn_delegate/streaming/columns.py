"""How the columns of a tensor follow those of the model's input: `Columns`.

A model computes a window of columns, a spectrogram of 49 frames for example. When the window moves on by a hop, most
columns of each tensor are those of the window before, only further left: they are computed from the same columns of the
input in the same way. Not so those at the ends, where a convolution reads padding: what was in the middle of the window
when its convolution read it stands beside padding now. A streaming model computes the columns at both ends, and the
newest between them, and takes the others from a state.

A recurrent layer has no window: its last state depends on all columns since the first inference. With one, a window is
only how much of the signal the model is given at a time, and padding at its start stands for what was before the first
inference: `first` is then BEFORE, and columns may have negative numbers.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, replace
from typing import Optional

BEFORE = -(10**9)  # all columns


@dataclass(frozen=True)
class Columns:
    """The columns of a tensor in the whole window.

    They lie along dimension `dim`, of size `count`. Neighbours are `step` columns of the input apart. Those from
    `first` to before `end` read no padding and depend on no other columns, and so move with the window.
    """

    dim: int
    count: int
    step: int
    first: int
    end: int

    @property
    def moving(self) -> range:
        return range(self.first, self.end)

    @property
    def since_start(self) -> bool:
        """Returns whether the window has no start."""
        return self.first == BEFORE

    def at(self, dim: int) -> Columns:
        return replace(self, dim=dim)

    def newest(self, hop: int) -> range:
        """Returns the moving columns that were not in the window before. If they are further apart than `hop`, it is
        the last one: the others are from windows that lie whole columns back."""
        return range(max(self.first, self.end - max(1, hop // self.step)), self.end)

    def interval(self, hop: int) -> Optional[int]:
        """Returns how many inferences lie between neighbours of which one is computed in each; None if windows do not
        move by whole columns, nor whole windows by a column."""
        if hop % self.step == 0:
            return 1
        return self.step // hop if self.step % hop == 0 else None


def read_by_window(columns: Columns, kernel: int, stride: int, padding: int, dilation: int, count: int) -> Columns:
    """Returns the columns of a convolution or pooling with `count` results along the columns of its input."""
    reach = (kernel - 1) * dilation
    first = BEFORE if columns.since_start else -(-(columns.first + padding) // stride)
    end = (columns.end - 1 + padding - reach) // stride + 1
    return Columns(columns.dim, count, columns.step * stride, *_moving(first, end, count))


def common(columns: Collection[Columns]) -> Columns:
    """Returns the columns of what is computed from several tensors, column by column."""
    some = next(iter(columns))
    first, end = max(c.first for c in columns), min(c.end for c in columns)
    first, end = _moving(first, end, some.count)
    return replace(some, first=first, end=end)


def _moving(first: int, end: int, count: int) -> tuple[int, int]:
    """Returns both ends of the moving columns; if there are none, the same place between the ends."""
    end = min(max(end, 0), count)
    first = first if first == BEFORE else min(max(first, 0), count)
    return (first, end) if first < end else (first, first)


def runs(columns: Collection[int]) -> Iterator[range]:
    """Yields the longest ranges of consecutive numbers in ascending order."""
    ordered = sorted(columns)
    start = 0
    for index in range(1, len(ordered) + 1):
        if index == len(ordered) or ordered[index] != ordered[index - 1] + 1:
            yield range(ordered[start], ordered[index - 1] + 1)
            start = index
