"""Observers for recurrent layers: of weights with a scale for each gate, and of cells and other states in 16 bits."""

from __future__ import annotations

import math
from typing import Any

import torch
from torchao.quantization.pt2e.observer import MinMaxObserver, PerChannelMinMaxObserver

from ..graph.tensor_type import Element


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
    """The least power of two as scale with which 16 bits hold all values, of those from 2^`least` to 2^`most`. Kernels
    of layers shift cells by at most 15 bits."""

    def __init__(self, least: int = -15, most: int = 0, **arguments: Any) -> None:
        super().__init__(eps=2.0**least, **arguments)
        self._exponents = least, most

    def calculate_qparams(self) -> tuple[torch.Tensor, torch.Tensor]:
        largest = float(torch.maximum(self.min_val.abs(), self.max_val.abs()).max()) if self.min_val.numel() else 0.0
        least, most = self._exponents
        exponent = math.ceil(math.log2(max(largest, 2.0**-30) / Element.INT16.high))
        scale = 2.0 ** min(max(exponent, least), most)  # what goes beyond the range of that is clipped
        return torch.tensor([scale]), torch.zeros(1, dtype=torch.int32)
