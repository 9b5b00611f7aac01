"""The noise of quantization in a tensor."""

from __future__ import annotations

from typing import Any

from ...support.noise_sums import NoiseSums
from .running import difference, extent, is_float


class Error:
    """The largest difference of an output from the float one in all samples that were added, and how far that goes. The
    range of one sample would not do: an output of one number may be close to 0 in it."""

    def __init__(self) -> None:
        self._apart = self._extent = 0.0

    def add(self, wanted: Any, found: Any) -> None:
        """Adds a tensor; what is not a float tensor is left out."""
        if is_float(wanted) and wanted.numel() and found.shape == wanted.shape:  # else the size depends on data
            self._apart = max(self._apart, difference(found, wanted))
            self._extent = max(self._extent, extent(wanted))

    @property
    def part(self) -> float:
        """The difference as a fraction of the range."""
        return self._apart / max(self._extent, 1e-30)


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
