"""Channels of tensors: which of them belong together, between which bounds they lie, and how layers lose some.

The channels of images [N, C, H, W] lie along dimension 1, those of other tensors along the last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from ..graph.ir import Node, Value
from . import per_channel_requantize
from .quantized_math import INT32_MAX


class Bounds(NamedTuple):
    """The least and the greatest integer that the elements of a tensor can have: int64 arrays that broadcast to its
    logical shape, with 1 for the batch."""

    low: np.ndarray
    high: np.ndarray

    def together(self, axes: Sequence[int]) -> Bounds:
        """Bounds of all elements along `axes`, which become 1."""
        return Bounds(self.low.min(axis=tuple(axes), keepdims=True), self.high.max(axis=tuple(axes), keepdims=True))

    def limited(self, low: int, high: int) -> Bounds:
        """Bounds after a clamp."""
        return Bounds(np.clip(self.low, low, high), np.clip(self.high, low, high))


class Link(NamedTuple):
    """Channels `outputs` of a node's output are computed of channels `inputs` of `value`, pair by pair."""

    value: Value
    inputs: np.ndarray
    outputs: np.ndarray


def axis(value: Value) -> int:
    """Returns the dimension of the channels."""
    return 1 if len(value.shape) == 4 else len(value.shape) - 1


def count(value: Value) -> int:
    """Returns the number of channels."""
    return value.shape[axis(value)] if value.shape else 1


def unbounded(value: Value) -> Bounds:
    """Returns the bounds of the element type."""
    ones = (1,) * len(value.shape)
    return Bounds(np.full(ones, value.element.low, np.int64), np.full(ones, value.element.high, np.int64))


def of_constant(value: Value) -> Bounds:
    """Returns the elements of a constant as bounds."""
    elements = value.constant.astype(np.int64)
    return Bounds(elements, elements)


def by_channel(bounds: Bounds, value: Value) -> Bounds:
    """Returns int64 [channels]: the bounds of each channel of `value`."""
    at = axis(value)
    joined = bounds.together([dim for dim in range(len(value.shape)) if dim != at])
    return Bounds(*(np.broadcast_to(side.reshape(-1), (count(value),)) for side in joined))


def along(bounds: Bounds, value: Value) -> Bounds:
    """Returns bounds of each channel, [channels], in a form that broadcasts to `value`."""
    shape = [1] * len(value.shape)
    shape[axis(value)] = -1
    return Bounds(bounds.low.reshape(shape), bounds.high.reshape(shape))


def of_elements(value: Value) -> np.ndarray:
    """Returns the channel of each element of one index of the batch, in logical order."""
    numbers = np.arange(count(value)).reshape([-1 if dim == axis(value) else 1 for dim in range(1, len(value.shape))])
    return np.broadcast_to(numbers, value.shape[1:]).reshape(-1)


def links_of_each(node: Node) -> list[Link]:
    """Links of a node whose output channels depend on the same channels of its inputs. An operand with one channel that
    is repeated has no link."""
    channels = np.arange(count(node.output))
    operands = [value for value in node.inputs if not value.is_constant and len(value.shape) == len(node.output.shape)]
    return [Link(value, channels, channels) for value in operands if count(value) == len(channels)]


# Layers with weights [out, in per group, ...] ----------------------------------


def weighted_bounds(node: Node, inputs: Bounds, groups: int, partial: bool) -> Bounds:
    """Returns the bounds of each output channel, [out], of the requantized sum bias + weight * (x - zero point), from
    those of each input channel, [in]. `partial`: an output may be computed of some of the taps only, at borders."""
    bias = node.inputs[2].constant
    sums = weighted_sums(node, inputs, groups, partial)
    largest = np.maximum(*(np.abs(total + bias) for total in sums))
    _, shift = per_channel_requantize.output_multipliers(node)
    # Where 32 bits wrap, a larger sum may give a smaller result.
    exact = largest << np.maximum(shift, 0).astype(np.int64) <= INT32_MAX
    ends = per_channel_requantize.finish(node, np.stack(sums), bias).astype(np.int64)
    lo, hi = node.attrs.clamp.quantized(node.output.type)
    return Bounds(np.where(exact, ends[0], lo), np.where(exact, ends[1], hi))


def weighted_sums(node: Node, inputs: Bounds, groups: int, partial: bool) -> Bounds:
    """`weighted_bounds` of the sums of weight * (x - zero point) themselves, without the bias."""
    x, weight = node.inputs[:2]
    low, high = inputs.low - x.zero_point, inputs.high - x.zero_point
    if partial:
        low, high = np.minimum(low, 0), np.maximum(high, 0)
    outputs, per_group = weight.shape[:2]
    read = (np.arange(outputs) // (outputs // groups) * per_group)[:, None] + np.arange(per_group)
    negative, positive = (_tap_sums(f(weight.constant, weight.element.numpy.type(0))) for f in (np.minimum, np.maximum))
    return Bounds(*((positive * a[read] + negative * b[read]).sum(axis=1) for a, b in ((low, high), (high, low))))


def _tap_sums(weights: np.ndarray) -> np.ndarray:
    """Returns int64 [out, in per group]: the sums over the taps."""
    sums: np.ndarray = weights.reshape(*weights.shape[:2], -1).sum(axis=2, dtype=np.int64)
    return sums


def weights_by_channel(node: Node) -> np.ndarray:
    """int64 [out, in per group, taps]."""
    data = node.inputs[1].constant
    return data.reshape(*data.shape[:2], -1).astype(np.int64)


def shares(node: Node, values: np.ndarray) -> np.ndarray:
    """Returns int64 [out, in]: what each input channel of a layer with one group adds to the sums, from its value."""
    found: np.ndarray = _tap_sums(node.inputs[1].constant) * (values - node.inputs[0].zero_point)
    return found


def reweight(node: Node, weights: np.ndarray, bias: np.ndarray) -> None:
    """Gives `node` copies of its weight, with the integers [out, in per group, taps], and of its bias, with [out]."""
    _, weight, old = node.inputs
    node.inputs[1] = replace(weight, data=weights.reshape(weight.shape).astype(weight.element.numpy))
    node.inputs[2] = replace(old, data=bias.astype(old.element.numpy))


def narrow_weighted(node: Node, inputs: np.ndarray, outputs: np.ndarray) -> None:
    """`Op.narrow` of a layer with one group."""
    weight = node.inputs[1]
    data = np.ascontiguousarray(weight.constant[:, inputs])
    node.inputs[1] = replace(weight, type=weight.type.of(shape=data.shape), data=data)
    narrow_outputs(node, outputs)


def links_of_groups(node: Node) -> list[Link]:
    """`Op.links` of a convolution with as many groups as input channels."""
    outputs = np.arange(count(node.output))
    return [Link(node.inputs[0], outputs // (len(outputs) // node.attrs.groups), outputs)]


def narrow_groups(node: Node, inputs: np.ndarray, outputs: np.ndarray) -> None:
    """`Op.narrow` of a convolution with as many groups as input channels."""
    narrow_outputs(node, outputs)
    node.attrs = replace(node.attrs, groups=int(np.count_nonzero(inputs)))


def row_parameters(node: Node) -> list[bytes]:
    """`Op.channel_parameters` of a layer: its weights, bias and scale for each output channel."""
    _, weight, bias = node.inputs
    multipliers, shifts = per_channel_requantize.output_multipliers(node)
    rows = zip(weight.constant, bias.constant, multipliers, shifts)
    return [row.tobytes() + b.tobytes() + m.tobytes() + s.tobytes() for row, b, m, s in rows]


def no_parameters(node: Node) -> list[bytes]:
    """`Op.channel_parameters` of a node that treats all channels alike."""
    return [b""] * count(node.output)


def narrow_outputs(node: Node, outputs: np.ndarray) -> None:
    """Gives `node` copies of its weight and bias with the output channels `outputs` only."""
    for index, value in enumerate(node.inputs[1:], 1):
        node.inputs[index] = _rows(value, outputs)


def narrow_constants(node: Node, kept: np.ndarray) -> None:
    """Gives `node` copies of its constant operands with the channels `kept` only, but for repeated ones."""
    for index, value in enumerate(node.inputs):
        if value.is_constant and len(value.shape) == len(node.output.shape) and count(value) == len(kept):
            data = np.ascontiguousarray(np.compress(kept, value.constant, axis=axis(value)))
            node.inputs[index] = replace(value, type=value.type.of(shape=data.shape), data=data)


def _rows(value: Value, kept: np.ndarray) -> Value:
    """A copy of a constant with those indices of the first dimension only."""
    quant = value.quant
    if quant is not None and len(quant.scale) > 1:
        quant = replace(quant, scale=tuple(np.array(quant.scale)[kept].tolist()))
    data = np.ascontiguousarray(value.constant[kept])
    return replace(value, type=value.type.of(shape=data.shape, quant=quant), data=data)
