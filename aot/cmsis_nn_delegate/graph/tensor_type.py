"""The type of a tensor: its element type, shape, order in memory, and quantization.

What depends on the element type is here and in `format.element`, where its ranges and names are.
"""

from __future__ import annotations

import enum
import math
from dataclasses import dataclass, replace
from typing import Any, Optional

import numpy as np

from ..format.element import Element as Element  # for everything that has tensors


class Layout(enum.Enum):
    """Order of the elements in memory."""

    ROW_MAJOR = "row-major"  # the last logical dimension is innermost
    CHANNELS_LAST = "channels-last"  # rank 4 only: logical NCHW stored as NHWC


@dataclass(frozen=True)
class Quant:
    """Affine integers: real = scale * (q - zero_point).

    `scale` is a tuple with one element (per tensor) or one element per index of `axis`.
    """

    scale: tuple[float, ...]
    zero_point: int
    axis: Optional[int] = None

    def __post_init__(self) -> None:
        if not self.scale or any(not (s > 0 and math.isfinite(s)) for s in self.scale):
            raise ValueError(f"scales must be positive and finite: {self.scale[:4]}")
        if self.axis is None and len(self.scale) != 1:
            raise ValueError(f"{len(self.scale)} scales need an axis")

    @property
    def inverse_scale(self) -> np.float32:
        """Returns the factor that quantizing multiplies with; per tensor only."""
        (scale,) = self.scale
        return np.float32(1 / scale)


@dataclass(frozen=True)
class TensorType:
    """`shape` is logical, in PyTorch's order (NCHW for images). `quant` is None for tensors that are not quantized."""

    element: Element
    shape: tuple[int, ...]
    layout: Layout = Layout.ROW_MAJOR
    quant: Optional[Quant] = None

    def __str__(self) -> str:
        return f"{self.element.value}{list(self.shape)}"

    @property
    def numel(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """In memory, packed."""
        return self.element.nbytes(self.numel)

    @property
    def storage_shape(self) -> tuple[int, ...]:
        """The shape in memory order: NHWC for channels-last tensors."""
        if self.layout is Layout.CHANNELS_LAST:
            n, c, h, w = self.shape
            return (n, h, w, c)
        return self.shape

    def of(self, **changes: Any) -> TensorType:
        """This type with other members."""
        return replace(self, **changes)

    def clamp(self, steps: np.ndarray) -> np.ndarray:
        """Returns integers limited to the range of the elements, as elements."""
        limited: np.ndarray = np.clip(steps, self.element.low, self.element.high)
        return limited.astype(self.element.numpy)

    def step(self, real: float) -> int:
        """Returns the element nearest to a real number, halves away from zero, as in TFLite's
        CalculateActivationRangeQuantized; per tensor only. Infinity gives the greatest or least element."""
        quant = self.per_tensor
        steps = real / quant.scale[0]
        if math.isinf(steps):
            return self.element.high if steps > 0 else self.element.low
        q = quant.zero_point + int(math.copysign(math.floor(abs(steps) + 0.5), steps))
        return min(max(q, self.element.low), self.element.high)

    def quantize(self, reals: np.ndarray) -> np.ndarray:
        """Quantizes float32 numbers, per tensor, as the kernels do: one float32 multiplication, halves to even,
        saturated; NaN gives the zero point."""
        quant = self.per_tensor
        with np.errstate(over="ignore", invalid="ignore"):
            steps = np.rint(reals.astype(np.float32) * quant.inverse_scale)
        # Bounds of the integer before the zero point is added; those of up to 16 bits are exact in float32.
        steps = np.where(np.isnan(steps), 0, steps)
        steps = np.clip(steps, self.element.low - quant.zero_point, self.element.high - quant.zero_point)
        return self.clamp(steps.astype(np.int64) + quant.zero_point)

    def to_bytes(self, data: np.ndarray) -> bytes:
        """Returns elements, given in memory order, as bytes: little-endian, packed."""
        flat = np.ascontiguousarray(self.packed(data)).reshape(-1)
        return flat.astype(flat.dtype.newbyteorder("<"), copy=False).tobytes()

    def packed(self, data: np.ndarray) -> np.ndarray:
        """Returns elements, given in memory order, as they lie in memory: those smaller than a byte share it, uint8
        [bytes]."""
        if self.element is not Element.INT4:
            return data.astype(self.element.numpy, copy=False)
        flat = np.ascontiguousarray(data).reshape(-1)
        pairs = np.pad(flat, (0, len(flat) % 2)).astype(np.uint8) & 0xF
        return pairs[::2] | pairs[1::2] << 4

    @property
    def per_tensor(self) -> Quant:
        """Returns the scale and zero point that all elements share. ValueError if there is none, or one per index of an
        axis."""
        if self.quant is None or len(self.quant.scale) != 1:
            raise ValueError(f"{self} has no scale and zero point of its own")
        return self.quant
