"""Observers for recurrent layers: of weights with a scale for each gate, and of cells in 16 bits."""

from __future__ import annotations

import math
from typing import Any

import torch
from torchao.quantization.pt2e.observer import MinMaxObserver, PerChannelMinMaxObserver

from ..graph.tensor_type import Element

_SMALLEST_CELL_SCALE = 2.0**-15  # kernels shift by at most 15 bits


class GateObserver(PerChannelMinMaxObserver):  # type: ignore[misc]  # torchao has no types
    """Like its base class, but all rows of one of `gates` equal parts of the weight have one scale."""

    def __init__(self, gates: int = 1, **arguments: Any) -> None:
        super().__init__(**arguments)
        self._gates = gates

    def calculate_qparams(self) -> tuple[torch.Tensor, torch.Tensor]:
        scale, zero_point = super().calculate_qparams()
        rows = scale.reshape(self._gates, -1)
        return rows.amax(dim=1, keepdim=True).expand_as(rows).reshape(-1).contiguous(), zero_point


class CellObserver(MinMaxObserver):  # type: ignore[misc]  # torchao has no types
    """The least power of two as scale with which 16 bits hold all values, and no less than 2^-15."""

    def __init__(self, **arguments: Any) -> None:
        super().__init__(eps=_SMALLEST_CELL_SCALE, **arguments)

    def calculate_qparams(self) -> tuple[torch.Tensor, torch.Tensor]:
        largest = float(torch.maximum(self.min_val.abs(), self.max_val.abs()).max()) if self.min_val.numel() else 0.0
        most = Element.INT16.high
        exponent = math.ceil(math.log2(max(largest, 2.0**-30) / most))
        # Cells beyond 2^15 would be clipped.
        scale = max(2.0 ** min(exponent, 0), _SMALLEST_CELL_SCALE)
        return torch.tensor([scale]), torch.zeros(1, dtype=torch.int32)
