"""The noise of quantization in a tensor."""

from __future__ import annotations

from typing import Any

from ...noise_sums import NoiseSums
from .running import is_float


class Noise(NoiseSums):
    """Sums over all elements of all tensors that were added: float values f, and the quantized ones q of them."""

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
