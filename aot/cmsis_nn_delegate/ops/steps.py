"""Indices along a dimension with equal distances, and which of them windows read."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple, Optional

import numpy as np


@dataclass(frozen=True)
class Steps:
    """start, start + step, ...: `count` indices. The step of one index is 1."""

    start: int
    step: int
    count: int

    @staticmethod
    def all(size: int) -> Steps:
        return Steps(0, 1, size)

    @staticmethod
    def covering(indices: Iterable[int]) -> Steps:
        """Returns the fewest steps that contain all of `indices`, at least one."""
        found = sorted(set(indices))
        distance = math.gcd(*(b - a for a, b in zip(found, found[1:])))
        if len(found) == 1:
            return Steps(found[0], 1, 1)
        return Steps(found[0], distance, (found[-1] - found[0]) // distance + 1)

    def indices(self) -> np.ndarray:
        return np.arange(self.count) * self.step + self.start

    def union(self, other: Steps) -> Steps:
        """Returns the fewest steps that contain both."""
        return self if self == other else Steps.covering([*self.indices().tolist(), *other.indices().tolist()])

    def of(self, kept: Steps) -> Steps:
        """Returns where these indices lie among those of `kept`, which contains them."""
        step = self.step // kept.step if self.count > 1 else 1
        return Steps((self.start - kept.start) // kept.step, step, self.count)


class Windows(NamedTuple):
    """Windows along a dimension of `size` indices: window i reads i * stride - before + tap * dilation for each of
    `taps` taps; what is outside of the dimension is padding."""

    size: int
    taps: int
    stride: int
    before: int
    dilation: int

    def only(self, outputs: Steps) -> Optional[tuple[Steps, Windows, int]]:
        """Returns (the indices that the windows `outputs` read, the same windows if nothing else is there, and their
        padding at the end); None if they read nothing but padding."""
        first = outputs.start * self.stride - self.before
        starts = outputs.indices() * self.stride - self.before
        read = (starts[:, None] + np.arange(self.taps) * self.dilation).reshape(-1)
        inside = read[(read >= 0) & (read < self.size)]
        if not inside.size:
            return None
        between = outputs.step * self.stride if outputs.count > 1 else 0
        apart = self.dilation if self.taps > 1 else 0
        step = math.gcd(between, apart) or 1
        needed = Steps((low := int(inside.min())), step, (int(inside.max()) - low) // step + 1)
        if needed.count == 1:
            needed = Steps(low, 1, 1)
        windows = Windows(needed.count, self.taps, between // step or 1, (low - first) // step, apart // step or 1)
        last = (outputs.count - 1) * windows.stride + (self.taps - 1) * windows.dilation + 1
        return needed, windows, last - windows.size - windows.before
