"""The observer of weights of 4 bits, of which each clips what costs more to represent than to lose."""

from __future__ import annotations

from typing import Any, Optional

import torch
from torchao.quantization.pt2e.observer import PerChannelMinMaxObserver

_CANDIDATES = 40


class ClippingObserver(PerChannelMinMaxObserver):  # type: ignore[misc]  # torchao has no types
    """For each channel c, the scale that rounds its weights with the least squared error:

        scale(c) = argmin over s of sum((w - s * clip(round(w / s), quant_min, quant_max))^2)

    with s = k / 40 * max(|w|) / quant_max for k = 1 to 40. With so few steps that is well below the scale of the
    largest weight, unless all weights are about as large. It sees the weights as they are now: in training, those of
    other steps do not matter. With `gates`, all rows of one of so many equal parts along dimension 0 have one scale."""

    def __init__(self, gates: Optional[int] = None, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._gates = gates

    def forward(self, x_orig: torch.Tensor) -> torch.Tensor:
        if not x_orig.numel():
            return x_orig
        rows = x_orig.detach().transpose(0, self.ch_axis).flatten(1).float()
        count = len(rows)
        if self._gates is not None:
            rows = rows.reshape(self._gates, -1)
        most = rows.abs().amax(1, keepdim=True)
        best, least_error = most.clone(), torch.full_like(most, torch.inf)
        for k in range(_CANDIDATES, 0, -1):
            # Of what is wider than needed, the widest: a channel of zeros has no error with any.
            limit = most * (k / _CANDIDATES)
            scale = (limit / self.quant_max).clamp(min=float(self.eps))
            rounded = (rows / scale).round().clamp(self.quant_min, self.quant_max) * scale
            error = (rows - rounded).square().sum(1, keepdim=True)
            better = error < least_error
            best, least_error = torch.where(better, limit, best), torch.where(better, error, least_error)
        limits = best.flatten().repeat_interleave(count // len(best)).to(self.min_val.dtype)
        for buffer, value in ((self.min_val, -limits), (self.max_val, limits)):
            buffer.resize_(value.shape)
            buffer.copy_(value)
        return x_orig
