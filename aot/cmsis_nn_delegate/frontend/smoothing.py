"""Detections of a network that is called again and again, smoothed and debounced, as a PyTorch module."""

from __future__ import annotations

import torch

from ..support.checked import checked
from ..support.errors import UserError

# More steps differ by less than 8 bits of the sum that counts them.
MOST_QUIET = 50
_HALF = 0.5


class DetectionSmoother(torch.nn.Module):
    """Scores of a step, float32 [1, classes], as detections [1, classes]: 1 where a class is detected, and else 0. A
    class is detected if the mean of its scores is above a threshold, and nothing was detected in the steps before.
    TensorFlow Lite Micro's RecognizeCommands, which computes the mean of a window, differs: it looks at the class with
    the largest mean alone, and a detection suppresses that class, and no other, for a time.

    fresh: the part of a step in the mean, mean = (1 - fresh) * mean + fresh * score, from 2^-10 to 1: about that of
        the last 2 / fresh - 1 steps.
    threshold: what a mean has to be above of.
    quiet: in how many steps after a detection, 0 to 50, and after the beginning, there is none.

    It consists of functions that the delegate computes, and the call holds the mean and what decays since the last
    detection, in 16 bits; comparisons see 8 bits of both. Calibrate with signals in which each class is detected:
    numbers beyond those of the calibration are limited.
    """

    mean: torch.Tensor
    recent: torch.Tensor

    @checked()
    def __init__(self, classes: int, fresh: float = 0.2, threshold: float = 0.6, quiet: int = 10) -> None:
        super().__init__()
        if classes < 1 or not 2**-10 <= fresh <= 1:
            raise UserError(f"fresh is {fresh}, and classes {classes}; they must be from 2^-10 to 1, and at least 1")
        if not 0 <= quiet <= MOST_QUIET:
            raise UserError(f"quiet is {quiet}; it must be from 0 to {MOST_QUIET}: call the model less often for more")
        self.fresh, self.threshold, self.quiet = float(fresh), float(threshold), quiet
        # In half a step more than it decays to a half in `quiet` steps.
        self.decay = _HALF ** (1 / (quiet - 0.5)) if quiet else 0.0
        self.register_buffer("mean", torch.zeros(1, classes))
        self.register_buffer("recent", torch.ones(1, 1))

    def forward(self, scores: torch.Tensor) -> torch.Tensor:
        if scores.shape != self.mean.shape:
            raise UserError(f"scores {list(scores.shape)} have to be [1, {self.mean.shape[1]}]")
        mean = (1 - self.fresh) * self.mean + self.fresh * scores
        self.mean.copy_(mean)
        above = (mean > self.threshold).float()
        if not self.quiet:
            return above
        found = above * (self.recent < _HALF).float()
        detected = found.amax(1, keepdim=True)
        # 1 - detected, written as a gate, so that the call holds the sum.
        self.recent.copy_(self.recent * (torch.sigmoid(20 - 40 * detected) * self.decay) + detected)
        return found

    def extra_repr(self) -> str:
        return f"{self.mean.shape[1]}, fresh={self.fresh}, threshold={self.threshold}, quiet={self.quiet}"
