"""The convolution of `conv2d_pairs` with weights of two channels in 16 bits, for cores with DSP."""

from __future__ import annotations

import numpy as np

from ...format.element import Element
from ...format.schema import Isa
from ...graph.ir import Node, Value
from ...graph.tensor_type import Quant
from ...ops.case import Case
from ...ops.kernel import KernelSpec
from ..implementation import Symbol
from . import block_args, pair_table
from .conv2d_pairs import CHANNELS, HELPERS, Conv2dPairs
from .requantization import Form


def _draw_large_sums(d: Case) -> Value:
    """Sums of some 22 bits, of which those of two channels together wrap, and weights of -128 wherever they may be."""
    x = d.input(1, d.integer(1, 80), *d.pair(1, 5))
    output = d.conv2d(x, d.channels(), (1, 1), clamp=d.clamp())
    node = d.nodes[-1]
    weight, bias = node.inputs[1:]
    weights = d.constant(weight.shape, Element.INT8, -128, 127).constant
    low, high = weights[: len(weights) // 2 * 2 : 2], weights[1::2]
    high[(low >= 0) & (high < -64)] = -128
    high[(low < 0) & (high == -128)] = -127
    scales = 2.0 ** d.random.uniform(-16, -14, len(weights)) * output.scale / x.scale
    weight.data = weights
    weight.retype(quant=Quant(tuple(map(float, scales)), 0, axis=0))
    bound = 3 << 20
    node.inputs[2] = d.constant(bias.shape, Element.INT32, -bound, bound)
    return d.maybe_relu(output)


KERNEL = KernelSpec(
    "conv2d_joint_pairs",
    block_args.struct(
        "Conv2dJointPairsArgs",
        "int8 convolution of one group, as conv2d computes it, from weights of two channels in 16 bits.",
        table="for each 4 channels: 4 sums for inputs of 0; the weights of 2 channels and 2 inputs per word; "
        "(shift, multiplier, correction) of each; of every second channel, sums and weights are 256 times its own, and "
        "those of the channel before",
        block_count="output_dims.c / 4, rounded up",
        block_words="16, and the inputs of a window rounded up to 8",
        forms=Form,
    ),
    priced_as="conv2d_pairs",
)


class Conv2dJointPairs(Conv2dPairs):
    """Like conv2d_pairs, with 256 times the weight of a channel and that of the channel before in 16 bits, which SMLAD
    multiplies as they are. The lower byte is the first channel's weight, so that one SXTB16 serves two channels, where
    conv2d_pairs takes two. The sum of the second channel is the difference of both sums, shifted.
    """

    name = "conv2d_joint_pairs"
    isas = frozenset({Isa.DSP})
    assumes = (
        "one group, sums that fit one of the forms of requantization, and of every second channel 23 bits, without "
        "weights of -128 beside negative ones of the channel before"
    )
    draws = (*Conv2dPairs.draws, _draw_large_sums)

    symbol = Symbol(KERNEL, helpers=HELPERS)

    def why_inexact(self, node: Node) -> str:
        return super().why_inexact(node) or pair_table.why_not_joint(node, self.weights(node))

    def sums(self, node: Node) -> np.ndarray:
        return pair_table.joint(super().sums(node), CHANNELS)
