"""Observers of scores before a softmax that a mask hides parts of, and of such masks.

What a mask hides is a large negative number, of any size: it would set the scale, and nothing would be left of what
differs between the others. A softmax only has to find it smaller than all that counts.
"""

from __future__ import annotations

from typing import Any

import torch
from torchao.quantization.pt2e.observer import MinMaxObserver, MovingAverageMinMaxObserver

from .histogram import FastHistogramObserver
from .percentile import PercentileObserver

# What is at most this hides, or is hidden: exp(-100) is 0 in any output.
LARGEST_HIDING = -100.0
# As much below all that counts, a softmax of int8 gives 0: exp(-7) is a quarter of its step, 1 / 256.
MARGIN = 7.0
# What a mask adds at most: further apart than scores lie. Masks of two values lose nothing by large steps.
DEEPEST = 1024.0
# Scores that are so much less than the greatest of their row are hidden, or might as well be.
_APART = 75.0
# In a row whose greatest score is less, all are hidden.
_ALL_HIDDEN = -5000.0


class _MaskedScores:
    """Makes of an observer of torchao, its next base, one for scores of which a mask hides parts. Its range is that of
    what counts, and `MARGIN` below it, so that what is hidden gets the least number."""

    margin = MARGIN

    def counted(self, x: torch.Tensor) -> torch.Tensor:
        """Returns the elements that a scale has to fit."""
        scores = x.detach()
        greatest = scores.amax(-1, keepdim=True)
        return scores[(scores > greatest - _APART) & (greatest > _ALL_HIDDEN)]

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        counted = self.counted(x)
        if counted.numel():
            super().forward(counted)  # type: ignore[misc]  # of the observer
        return x

    def _calculate_qparams(self, low: torch.Tensor, high: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        found: tuple[torch.Tensor, torch.Tensor] = super()._calculate_qparams(low - MARGIN, high)  # type: ignore[misc]
        return found


class _MaskValues:
    """Makes of an observer of torchao, its next base, one for what is added to scores. What hides counts as -`DEEPEST`.
    A mask that is 0 in all of the data has the range of one that hides, because it may at another time."""

    margin = 0.0

    def counted(self, x: torch.Tensor) -> torch.Tensor:
        """Returns the elements that a scale has to fit, as it sees them."""
        return x.detach().clamp(min=-DEEPEST)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        super().forward(self.counted(x))  # type: ignore[misc]  # of the observer
        return x

    def _calculate_qparams(self, low: torch.Tensor, high: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        if not low.any() and not high.any():
            low = low - DEEPEST
        elif float(low) < LARGEST_HIDING:
            low = torch.minimum(low, torch.full_like(low, -DEEPEST))  # not clipped by a search
        found: tuple[torch.Tensor, torch.Tensor] = super()._calculate_qparams(low, high)  # type: ignore[misc]
        return found


# One class for each pair, in the module and not made by a function, so that prepared models can be pickled.
class _HistogramOfScores(_MaskedScores, FastHistogramObserver): ...


class _MinMaxOfScores(_MaskedScores, MinMaxObserver): ...  # type: ignore[misc]  # torchao has no types


class _AverageOfScores(_MaskedScores, MovingAverageMinMaxObserver): ...  # type: ignore[misc]


class _PercentileOfScores(_MaskedScores, PercentileObserver): ...


class _HistogramOfMask(_MaskValues, FastHistogramObserver): ...


class _MinMaxOfMask(_MaskValues, MinMaxObserver): ...  # type: ignore[misc]


class _AverageOfMask(_MaskValues, MovingAverageMinMaxObserver): ...  # type: ignore[misc]


class _PercentileOfMask(_MaskValues, PercentileObserver): ...


_SCORES = (_HistogramOfScores, _MinMaxOfScores, _AverageOfScores, _PercentileOfScores)
_MASKS = (_HistogramOfMask, _MinMaxOfMask, _AverageOfMask, _PercentileOfMask)


def masked_scores(observer: Any) -> Any:
    """Returns the subclass of an observer of torchao, for scores of which a mask hides parts."""
    return next(adapted for adapted in _SCORES if adapted.__bases__[1] is observer)


def mask_values(observer: Any) -> Any:
    """Returns the subclass of an observer of torchao, for what is added to scores."""
    return next(adapted for adapted in _MASKS if adapted.__bases__[1] is observer)
