"""torchao's histogram observer, which searches for its range faster, and once."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Optional

import numpy as np
import torch
from torchao.quantization.pt2e.observer import HistogramObserver

_STEP = 1e-5  # of the share of values left out in one step, in torchao's search


class FastHistogramObserver(HistogramObserver):  # type: ignore[misc]  # torchao has no types
    """Finds the range that torchao's observer finds, to the last bit. torchao takes 10 to 1,000 ms for each, because it
    compares bins as tensors; and it asks once for each tensor that shares a scale, and the comparison with the float
    model asks again."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._found: Optional[tuple[Hashable, tuple[torch.Tensor, torch.Tensor]]] = None

    def _non_linear_param_search(self) -> tuple[torch.Tensor, torch.Tensor]:
        seen = tuple(tensor.numpy().tobytes() for tensor in (self.histogram, self.min_val, self.max_val))
        if self._found is None or self._found[0] != seen:
            self._found = seen, self._search()
        low, high = self._found[1]
        return low.clone(), high.clone()

    def _search(self) -> tuple[torch.Tensor, torch.Tensor]:
        """Narrows the range from the side where more bins can be left out, while that makes the error smaller."""
        total = torch.sum(self.histogram).item()
        sums: list[float] = torch.cumsum(self.histogram, dim=0).tolist()  # up to each bin, float32
        low, high = 0.0, 1.0  # shares of the values
        start, end = 0, self.bins - 1
        least = float("inf")
        while low < high:
            next_low, next_high = low + _STEP, high - _STEP
            # torchao compares with them as float32.
            least_sum, largest_sum = float(np.float32(next_low * total)), float(np.float32(next_high * total))
            left, right = start, end
            while left < end and sums[left] < least_sum:
                left += 1
            while right > start and sums[right] > largest_sum:
                right -= 1
            if left - start > end - right:
                next_start, next_end, low = left, end, next_low
            else:
                next_start, next_end, high = start, right, next_high
            if (next_start, next_end) == (start, end):
                continue
            error = self._compute_quantization_error(next_start, next_end)
            if error > least:
                break
            least, start, end = error, next_start, next_end
        width = (self.max_val - self.min_val) / self.bins
        return self.min_val + width * start, self.min_val + width * (end + 1)
