"""What the noise in tensors is computed from: sums, which add up over tensors, samples and parts of a data set."""

from __future__ import annotations

import math
from dataclasses import astuple, dataclass


@dataclass
class NoiseSums:
    """Over all elements of some tensors: of wanted numbers f, and of the quantized ones q in their place."""

    signal: float = 0.0  # f * f
    quantized: float = 0.0  # q * q
    product: float = 0.0  # f * q
    noise: float = 0.0  # (f - q) * (f - q)

    def __post_init__(self) -> None:
        if min(self.signal, self.quantized, self.noise) < 0:
            raise ValueError("a sum of squares is negative")

    def plus(self, other: NoiseSums) -> NoiseSums:
        """Returns the sums over the tensors of both."""
        return NoiseSums(*(a + b for a, b in zip(astuple(self), astuple(other))))

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
        return self.product / (math.sqrt(self.signal) * math.sqrt(self.quantized))
