"""The convolution of `conv2d_pairs` with weights of 4 bits, for cores with DSP."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...format.element import Element
from ...format.schema import Isa
from ...graph.ir import Node
from ...ops import conv2d
from ...ops.kernel import KernelSpec
from ..implementation import Symbol
from . import block_args, conv2d_pairs, nibble_table, pair_table, requantization
from .conv2d_pairs import CHANNELS, HELPERS, Conv2dPairs
from .drawing import typed
from .requantization import Form

DRAWS = (conv2d_pairs.draw_general, conv2d_pairs.draw_words, conv2d_pairs.draw_pointwise)

KERNEL = KernelSpec(
    "conv2d_int4_pairs",
    block_args.struct(
        "Conv2dInt4PairsArgs",
        "int8 convolution of one group, as conv2d_int4 computes it, from weights of 4 bits in the order of the "
        "products.",
        table="for each 4 channels: the weights of 4 channels and 2 inputs per word, the first input in the lower "
        "half, the first channel in its lowest bits, of the first 3 channels 8 more than they are; what corrections "
        "are made of, for ANY 2 * zero point of the output + 1, for FLOOR 1; for each channel its sum for inputs of 0, "
        "times 2^8, with the shift of its requantization in the lowest bits, and the multiplier",
        block_count="output_dims.c / 4, rounded up",
        block_words="9, and half the inputs of a window rounded up to 8",
        forms=Form,
    ),
    priced_as="conv2d_pairs",
)


# Half a step of the first rounding of FLOOR, before a shift of two bits less than that of FLOOR.
_HALF_STEP = 1
_HALF_STEP_BITS = 2


class Conv2dInt4Pairs(Conv2dPairs):
    """Like conv2d_pairs, with a load for the weights of four filters and two inputs, which are two numbers of 16 bits
    that SMLAD multiplies as they are, and parts of them: see nibble_table. What a sum starts with is added where it is
    shifted anyway. It has 20 bits, so that the shift of the requantization lies in the lowest 8 of its word; the
    correction follows from that.
    """

    name = "conv2d_int4_pairs"
    like = conv2d.INT4
    isas = frozenset({Isa.DSP})
    assumes = "one group, and sums and products of 19 bits that fit one of the forms of requantization"
    draws = typed(DRAWS, weights=Element.INT4)

    symbol = Symbol(KERNEL, helpers=HELPERS)

    def why_inexact(self, node: Node) -> str:
        return nibble_table.why_none(node, self.weights(node))

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        form, table = self.form(node), self.sums(node)
        shift, multiplier, _ = requantization.table(node, form).T
        # For ANY less one, because that makes the correction.
        shift = shift - (_HALF_STEP_BITS if form is Form.FLOOR else 1)
        scales = np.zeros((len(table) * CHANNELS, 2), np.int32)
        scales[: len(shift)] = np.stack([nibble_table.starts(node, self.weights(node), shift), multiplier], axis=1)
        correction = _HALF_STEP if form is Form.FLOOR else 2 * node.output.zero_point + 1
        common = np.full((len(table), 1), correction, np.int32)
        return {"table": np.concatenate([table, common, scales.reshape(len(table), -1)], axis=1)}

    def scale_words(self, node: Node) -> int:
        return 2 * CHANNELS + 1

    def sums(self, node: Node) -> np.ndarray:
        return nibble_table.joint(self.weights(node))

    def sum_words(self, inputs: int) -> int:
        return pair_table.depth(inputs) // 2
