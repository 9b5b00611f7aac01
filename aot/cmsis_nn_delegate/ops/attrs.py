"""Attributes of the operators: the `attrs` of a graph node."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Optional

from ..graph.tensor_type import Layout, TensorType
from .geometry import Geometry, Pair

# The shapes in memory, of one rank, of two operands of which one or both are repeated along some dimensions.
Shapes = tuple[tuple[int, ...], tuple[int, ...]]


@dataclass(frozen=True)
class Clamp:
    """A fused activation, in real numbers: y = min(max(x, lo), hi)."""

    lo: float = -math.inf
    hi: float = math.inf

    def then(self, after: Clamp) -> Clamp:
        """This clamp followed by `after`, as one."""
        lo = min(max(self.lo, after.lo), after.hi)
        hi = max(min(self.hi, after.hi), after.lo)
        return Clamp(lo, hi)

    def quantized(self, output: TensorType) -> tuple[int, int]:
        """Returns the clamp in steps of `output`, as TFLite's CalculateActivationRangeQuantized computes it."""
        return output.step(self.lo), output.step(self.hi)

    def limits(self, output: TensorType) -> bool:
        """Returns whether it leaves out some of the numbers of `output`."""
        return self.quantized(output) != (output.element.low, output.element.high)


@dataclass(frozen=True)
class Padding:
    """Pixels added at each edge."""

    top: int = 0
    left: int = 0
    bottom: int = 0
    right: int = 0

    def plus(self, other: Padding) -> Padding:
        return Padding(
            self.top + other.top,
            self.left + other.left,
            self.bottom + other.bottom,
            self.right + other.right,
        )


@dataclass(frozen=True)
class ConvAttrs:
    """conv2d and depthwise_conv2d. Inputs: x, weight (OIHW, I per group), bias (int32).

    `called_as`: the equivalent geometry that the kernel is called with, if a provider needs a different one.
    """

    stride: Pair = (1, 1)
    padding: Padding = Padding()
    dilation: Pair = (1, 1)
    groups: int = 1
    clamp: Clamp = Clamp()
    called_as: Optional[Geometry] = None


@dataclass(frozen=True)
class TransposeConvAttrs:
    """transpose_conv2d. Inputs: x, weight (OIHW, I per group), bias (int32). `padding` is cut off at the top and left;
    `output`, its height and width, says how much at the bottom and right."""

    stride: Pair
    padding: Pair
    dilation: Pair
    groups: int
    output: Pair
    clamp: Clamp = Clamp()


@dataclass(frozen=True)
class FullyConnectedAttrs:
    """fully_connected. Inputs: x (..., in), weight (out, in), bias (int32)."""

    clamp: Clamp = Clamp()


@dataclass(frozen=True)
class GroupedAttrs:
    """fully_connected_groups. Inputs: x (..., in), weight (out, in), factors (out, groups), bias (int32). The sum over
    groups loses `narrowing` bits."""

    narrowing: int
    clamp: Clamp = Clamp()


@dataclass(frozen=True)
class AddAttrs:
    """add: a + alpha * b. Inputs: a, b. `lay_out_operands` sets `shapes`."""

    clamp: Clamp = Clamp()
    alpha: float = 1.0
    shapes: Optional[Shapes] = None


@dataclass(frozen=True)
class PoolAttrs:
    """avg_pool2d and max_pool2d; the padding never counts. The output shape says how far windows go. Only windows of
    max_pool2d have a dilation."""

    kernel: Pair
    stride: Pair
    padding: Padding = Padding()
    clamp: Clamp = Clamp()
    dilation: Pair = (1, 1)


@dataclass(frozen=True)
class SoftmaxAttrs:
    """softmax along one logical dimension, not negative."""

    dim: int


@dataclass(frozen=True)
class TransposeAttrs:
    """transpose: the same logical values in memory order `to`."""

    to: Layout


@dataclass(frozen=True)
class ConcatAttrs:
    """concat along a logical axis of the output, not negative. Inputs: any number, of the output's scale and layout."""

    axis: int


@dataclass(frozen=True)
class ClampAttrs:
    """clamp, before it is fused."""

    clamp: Clamp


@dataclass(frozen=True)
class PadAttrs:
    """pad of H and W with a real constant, before it is folded."""

    padding: Padding
    value: float
