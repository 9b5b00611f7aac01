"""The noise of quantization in a tensor."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from .running import is_float


@dataclass
class Noise:
    """Sums over all elements of all tensors that were added: float values f, and the quantized ones q of them."""

    signal: float = 0.0  # f * f
    quantized: float = 0.0  # q * q
    product: float = 0.0  # f * q
    noise: float = 0.0  # (f - q) * (f - q)

    def add(self, wanted: Any, found: Any) -> None:
        """Adds a tensor; what is not a float tensor is left out, and so are elements that are not finite."""
        if not is_float(wanted) or not is_float(found) or wanted.shape != found.shape:
            return
        f, q = wanted.double(), found.double()
        finite = f.isfinite() & q.isfinite()
        f, q = f[finite], q[finite]
        self.signal += float(f.square().sum())
        self.quantized += float(q.square().sum())
        self.product += float((f * q).sum())
        self.noise += float((f - q).square().sum())

    @property
    def sqnr(self) -> float:
        """Signal to quantization noise in dB, 10 log10(sum f^2 / sum (f - q)^2); without noise infinite."""
        if not self.noise:
            return math.inf
        return 10 * math.log10(self.signal / self.noise) if self.signal else -math.inf

    @property
    def cosine(self) -> float:
        """The cosine of the angle between f and q as vectors; 1 if both are zero, 0 if one of them is."""
        if not self.signal or not self.quantized:
            return float(self.signal == self.quantized)
        return self.product / math.sqrt(self.signal * self.quantized)
