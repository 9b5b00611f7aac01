"""The depthwise convolution of `depthwise_conv2d_planes` with weights of 4 bits, for cores with DSP."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from ...format.element import Element
from ...graph.ir import Node, Value
from ...ops import depthwise_conv2d
from ...ops.case import Case
from ...ops.kernel import KernelSpec
from ..implementation import Symbol
from . import depthwise_3x3, depthwise_conv2d_planes
from .depthwise_conv2d_planes import HELPERS, DepthwiseConv2dPlanes

_WORDS = 3  # of a channel in the table
_START_BITS = 21  # that it has for a sum among these
# Where the second word has them.
_SCALE_AT = 4
_START_AT = 32 - _START_BITS


def _draw_long_sums(d: Case) -> Value:
    """Biases that share no word with weights."""
    drawn = d.pick(*depthwise_3x3.DRAWS_INT4)(d)
    (_, weight, bias), most = d.nodes[0].inputs, 1 << _START_BITS
    quant = weight.quant
    assert quant is not None
    # Steps of sums so fine that they fill the range of the outputs.
    weight.retype(quant=replace(quant, scale=tuple(s * 2.0**-9 for s in quant.scale)))
    d.nodes[0].inputs[2] = replace(bias, data=d.random.integers(-most, most, bias.shape).astype(np.int32))
    return drawn


KERNEL = KernelSpec(
    "depthwise_conv2d_int4_planes",
    depthwise_conv2d_planes.struct(
        "DepthwiseConv2dInt4PlanesArgs",
        "int8 depthwise convolution of 3 x 3 taps, as depthwise_conv2d_int4 computes it, by planes of channels.",
        Element.INT8,
        "for each channel: a word with 8 weights of 4 bits, the first in the lowest bits; one with the last weight in "
        "its lowest 4 bits, shift and form in the next 7 and the sum for inputs of 0 in the others; the multiplier. "
        "With 4 words, the sum is the last one",
        (_WORDS, _WORDS + 1),
    ),
    priced_as="depthwise_conv2d_planes",
)


class DepthwiseConv2dInt4Planes(DepthwiseConv2dPlanes):
    """Like depthwise_conv2d_planes, whose constants of four channels it makes on the stack, once for all of their
    windows. A channel has three words in flash in the place of five, or four where a sum for inputs of 0 needs more
    than 21 bits."""

    name = "depthwise_conv2d_int4_planes"
    like = depthwise_conv2d.INT4
    draws = (*depthwise_3x3.DRAWS_INT4, _draw_long_sums)
    symbol = Symbol(KERNEL, helpers=HELPERS)

    def channel_words(self, node: Node) -> int:
        starts, most = self.starts(node), 1 << (_START_BITS - 1)
        return _WORDS if ((-most <= starts) & (starts < most)).all() else _WORDS + 1

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        weights, starts = depthwise_3x3.taps(node).reshape(-1, 9) & 0xF, self.starts(node)
        scale, multiplier = self.scales(node)
        first = sum(weights[:, tap] << (4 * tap) for tap in range(8))
        second = weights[:, 8] | scale << _SCALE_AT
        words = [first, second, multiplier, starts]
        if self.channel_words(node) == _WORDS:
            words = [first, second | starts << _START_AT, multiplier]
        return {"table": np.stack(words, axis=1).astype(np.uint64).astype(np.uint32).view(np.int32)}
