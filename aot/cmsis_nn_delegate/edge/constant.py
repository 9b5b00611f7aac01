"""A constant operand of an edge program, as operators see it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Optional

import numpy as np

from ..format.element import KERNEL_ELEMENTS, Element
from ..graph.tensor_type import Quant


@dataclass(frozen=True)
class Constant:
    """A constant operand, quantized or float.

    Partitioners may get programs without data; then `data`, and `scales` and `zero_points` per
    channel, are None.
    """

    dtype: str  # "int8"
    shape: tuple[int, ...]
    quantized: bool
    axis: Optional[int]  # that the scales count along; None: one scale
    data: Optional[np.ndarray]
    # float64 and integers, rank 1; of groups [other dimension, groups].
    scales: Optional[np.ndarray] = None
    zero_points: Optional[np.ndarray] = None
    limits: Optional[tuple[int, int]] = None  # the least and the greatest integer it was quantized to
    # Of a matrix with a scale for each index of the other dimension and each group of so many indices of `axis`.
    group: Optional[int] = None

    @property
    def element(self) -> Element:
        """The type of a quantized constant: the smallest that its limits say it fits, and its data really does.
        Exporters keep weights of 4 bits in int8, with limits of 4 bits."""
        stored = Element(self.dtype)
        smaller = Element.INT4
        if not self.has_limits_of(smaller):
            return stored
        fits = self.data is None or not self.data.size or _within(int(self.data.min()), int(self.data.max()), smaller)
        return smaller if fits else stored

    def has_limits_of(self, element: Element) -> bool:
        """Returns whether it was quantized to numbers that `element` has."""
        return self.limits is not None and _within(*self.limits, element)

    def without_groups(self) -> Constant:
        """Returns a matrix with scales in groups as one with scales along its other dimension, if those of all groups
        are the same; others as they are."""
        scales, zero_points = self.scales, self.zero_points
        if self.group is None or self.axis is None or scales is None or zero_points is None:
            return self
        if np.any(scales != scales[:, :1]) or np.any(zero_points != zero_points[:, :1]):
            return self
        return replace(self, axis=1 - self.axis, scales=scales[:, 0], zero_points=zero_points[:, 0], group=None)

    def as_type(self, dtype: str) -> Constant:
        """Returns a float constant converted to `dtype`."""
        return replace(self, dtype=dtype, data=None if self.data is None else self.data.astype(dtype))

    def reshaped(self, shape: Sequence[int]) -> Optional[Constant]:
        """Returns the constant in another shape; None if it has scales along a dimension."""
        if self.axis is not None:
            return None
        return replace(self, shape=tuple(shape), data=None if self.data is None else self.data.reshape(shape))

    @property
    def quant(self) -> Optional[Quant]:
        """How the constant is quantized, if kernels can read it like an activation: with one scale."""
        if not self.quantized or self.axis is not None or self.scales is None or self.zero_points is None:
            return None
        if self.dtype not in [element.value for element in KERNEL_ELEMENTS]:
            return None
        return Quant((float(self.scales[0]),), int(self.zero_points[0]))

    def transposed(self, order: Sequence[int]) -> Constant:
        """Returns the constant with dimension order[i] as dimension i."""
        return replace(
            self,
            shape=tuple(self.shape[dim] for dim in order),
            axis=None if self.axis is None else list(order).index(self.axis),
            data=None if self.data is None else self.data.transpose(order),
        )


def _within(low: int, high: int, element: Element) -> bool:
    return element.low <= low and high <= element.high
