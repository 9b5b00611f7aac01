"""An observer whose range leaves out a fixed share of the values."""

from __future__ import annotations

import torch
from torchao.quantization.pt2e.observer import HistogramObserver

# Of the values, half of them at each end. The range consists of whole bins of the histogram, so that it clips no more.
CLIPPED = 1e-4


class PercentileObserver(HistogramObserver):  # type: ignore[misc]  # torchao has no types
    """Counts like the histogram observer, which then searches the range with the least squared error. This one takes
    the range from the counts, so that a few outliers set no scale, however far out they are."""

    def _non_linear_param_search(self) -> tuple[torch.Tensor, torch.Tensor]:
        below = torch.cumsum(self.histogram.double(), 0) / self.histogram.double().sum()
        first = int((below <= CLIPPED / 2).sum())
        last = int((below < 1 - CLIPPED / 2).sum())
        width = (self.max_val - self.min_val) / self.bins
        return self.min_val + width * first, self.min_val + width * (last + 1)
