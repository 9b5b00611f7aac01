"""The observer of activations that have bits to spare: `HeadroomObserver`."""

from __future__ import annotations

import torch
from torchao.quantization.pt2e.observer import MinMaxObserver


class HeadroomObserver(MinMaxObserver):  # type: ignore[misc]  # torchao has no types
    """Finds a range `headroom` times as wide as that of the numbers that it has seen: new data rarely stays within the
    range of the samples that calibrated. It costs one of 16 bits, where 8 bits of weights are what limits how exact a
    network is; numbers that are clipped cost far more."""

    headroom = 2.0

    def calculate_qparams(self) -> tuple[torch.Tensor, torch.Tensor]:
        scale, zero_point = super().calculate_qparams()
        return scale * self.headroom, zero_point
