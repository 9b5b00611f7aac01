"""The convolution of `conv2d_int4_pairs` for sums of more than 19 bits, for cores with DSP."""

from __future__ import annotations

import math

import numpy as np

from ...format.element import Element
from ...graph.ir import Node, Value
from ...graph.tensor_type import Quant
from ...ops.case import Case
from ...ops.features import Features, blocks_of
from ...ops.kernel import KernelSpec
from ..implementation import Symbol
from . import block_args, conv2d_int4_pairs, nibble_table, pair_table
from .conv2d_int4_pairs import Conv2dInt4Pairs
from .conv2d_pairs import HELPERS
from .requantization import Form


def _draw_windows(d: Case) -> Value:
    """Some 2,000 to 4,500 products, some 1,000 of which may need 19 bits."""
    kernel = d.pick((3, 3), (3, 3), d.pair(2, 5))
    channels = -(-d.integer(2000, 4500) // math.prod(kernel))
    x = d.image(d.batch(), d.pick(channels, -(-channels // 4) * 4), kernel, extra=1, element=Element.INT8)
    stride, padding = d.pair(1, 3), d.padding(kernel)
    return d.maybe_relu(d.conv2d(x, d.integer(1, 9), kernel, stride, padding, clamp=d.clamp(), element=Element.INT4))


def _draw_pointwise(d: Case) -> Value:
    x = d.input(d.batch(), d.integer(1200, 4500), *d.pair(1, 3))
    return d.maybe_relu(d.conv2d(x, d.integer(1, 9), (1, 1), clamp=d.clamp(), element=Element.INT4))


def _draw_extreme(d: Case) -> Value:
    """The largest products that there are, with steps of sums that leave most results between the limits."""
    x = d.input(1, d.integer(1200, 4500), *d.pair(1, 2))
    y = d.conv2d(x, d.integer(1, 9), (1, 1), clamp=d.clamp(), element=Element.INT4)
    weight = d.nodes[-1].inputs[1]
    weight.constant[:] = np.reshape([d.pick(-8, 7) for _ in weight.constant], (-1, 1, 1, 1))
    assert weight.quant is not None
    steps = tuple(scale / d.pick(16, 64, 256) for scale in weight.quant.scale)
    weight.retype(quant=Quant(steps, 0, weight.quant.axis))
    return d.maybe_relu(y)


KERNEL = KernelSpec(
    "conv2d_int4_wide_pairs",
    block_args.struct(
        "Conv2dInt4WidePairsArgs",
        "int8 convolution of one group, as conv2d_int4 computes it, from weights of 4 bits in the order of the "
        "products, for sums of more than 19 bits.",
        table="as of conv2d_int4_pairs",
        block_count="output_dims.c / 4, rounded up",
        block_words="9, and half the inputs of a window rounded up to 8",
        forms=Form,
    ),
    priced_as=conv2d_int4_pairs.KERNEL.name,
)


class Conv2dInt4WidePairs(Conv2dInt4Pairs):
    """Every 504 inputs, the sum of the channel whose products are shifted most is added up in 32 bits: see
    nibble_table."""

    name = "conv2d_int4_wide_pairs"
    assumes = "one group, and sums of more than 19 bits and at most 24 that fit one of the forms of requantization"
    draws = (_draw_windows, _draw_pointwise, _draw_extreme)

    symbol = Symbol(KERNEL, helpers=HELPERS)

    def why_inexact(self, node: Node) -> str:
        return nibble_table.why_not_wide(node, self.weights(node))

    def features(self, node: Node, scratch_bytes: int) -> Features:
        found = super().features(node, scratch_bytes)
        inputs = pair_table.depth(math.prod(node.inputs[1].shape[1:]))
        parts = found.counts["blocks"] * blocks_of(inputs, nibble_table.WIDE_INPUTS)
        return Features({**found.counts, "parts of blocks": parts}, found.path)
