"""Weights with a scale for each group of inputs, as integers: what the compiler makes of these scales.

The sum over the inputs of a group is exact. It is multiplied with an integer, the factor of its group and channel, and
the products are added in 64 bits:

    sum(c) = sum over groups g of factor(c, g) * sum over k in g of w(c, k) * (x(k) - zero point)

A unit of it is input scale * unit(c), so that factor(c, g) * unit(c) is the scale of the group, rounded. The largest
factor of each channel is 2^15 - 1: factors that leave room for 32 bits would be rounded by more the longer rows are.
So that the kernel has sums of 32 bits to requantize, it divides by 2^narrowing before it adds the bias.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..graph.tensor_type import TensorType
from .quantized_math import INT32_MAX

LARGEST_FACTOR = 2**15 - 1
# In the argument block: a sum of 64 bits may then be narrowed to any of 32.
MAX_NARROWING = 31


class GroupFactors(NamedTuple):
    """`scales` float64 [out]: of a channel's weights in the sum once it is narrowed. `factors` int16 [out, groups].
    `bias` int64 [out], in steps of input scale * scales. `narrowing` may exceed MAX_NARROWING. `error` float64 [out]:
    the most that rounded factors, narrowed sums and rounded biases can change a sum by, in steps of the output."""

    scales: np.ndarray
    factors: np.ndarray
    bias: np.ndarray
    narrowing: int
    error: np.ndarray


def by_group(products: np.ndarray, groups: int) -> np.ndarray:
    """Returns the sums, int64 [out, groups], of an array [out, in] over each group of inputs."""
    found: np.ndarray = products.reshape(len(products), groups, -1).sum(axis=2, dtype=np.int64)
    return found


def largest_products(weights: np.ndarray, groups: int, x: TensorType) -> np.ndarray:
    """int64 [out, groups]: the largest magnitude of a group's sum of weights, int8 [out, in], times x - zero point."""
    quant = x.per_tensor
    below, above = quant.zero_point - x.element.low, x.element.high - quant.zero_point
    positive = by_group(np.maximum(weights, 0), groups)
    negative = -by_group(np.minimum(weights, 0), groups)
    largest: np.ndarray = np.maximum(positive * above + negative * below, positive * below + negative * above)
    return largest


def group_factors(
    weights: np.ndarray, scales: np.ndarray, bias: np.ndarray, x: TensorType, output_scale: float
) -> GroupFactors:
    """Returns what stands for positive `scales`, float64 [out, groups], of `weights`, int8 [out, in], with the real
    numbers `bias`, [out], and an input of type `x`."""
    groups = scales.shape[1]
    largest = largest_products(weights, groups, x)
    # The scale of a group of zeros does not matter; it may be far larger than the others.
    used = np.where(weights.reshape(len(weights), groups, -1).any(axis=2), scales, 0.0)
    most = used.max(axis=1)
    unit = np.where(most > 0, most, scales.max(axis=1)) / LARGEST_FACTOR
    factors = np.rint(used / unit[:, None]).astype(np.int64)
    input_scale = x.per_tensor.scale[0]
    sums = (factors * largest).sum(axis=1) + np.abs(bias) / (input_scale * unit)
    narrowing = 0
    # What rounding adds is below 3.
    while np.max(sums) / 2.0**narrowing + 3 > INT32_MAX:
        narrowing += 1
    narrowed = unit * 2.0**narrowing
    # The sum is rounded, and what the zero point adds to the bias, and the bias.
    rounded = (np.abs(used - factors * unit[:, None]) * largest).sum(axis=1) + 1.5 * narrowed
    return GroupFactors(
        narrowed,
        factors.astype(np.int16),
        np.rint(bias / (input_scale * narrowed)).astype(np.int64),
        narrowing,
        rounded * input_scale / output_scale,
    )
