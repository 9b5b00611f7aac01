"""The convolution of `conv2d_pairs` with weights of 4 bits, for cores with DSP."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...format.element import Element
from ...format.schema import Isa
from ...graph.ir import Node, Value
from ...ops import conv2d
from ...ops.case import Case
from ...ops.kernel import KernelSpec
from ..implementation import Symbol
from . import block_args, conv2d_pairs, nibble_table, requantization
from .conv2d_pairs import CHANNELS, HELPERS, Conv2dPairs
from .requantization import Form


def _draw_general(d: Case) -> Value:
    return conv2d_pairs.draw_general(d, weights=Element.INT4)


def _draw_words(d: Case) -> Value:
    return conv2d_pairs.draw_words(d, weights=Element.INT4)


def _draw_pointwise(d: Case) -> Value:
    return conv2d_pairs.draw_pointwise(d, weights=Element.INT4)


KERNEL = KernelSpec(
    "conv2d_int4_pairs",
    block_args.struct(
        "Conv2dInt4PairsArgs",
        "int8 convolution of one group, as conv2d_int4 computes it, from weights of 4 bits in the order of the "
        "products.",
        table="for each 4 channels: 4 sums for inputs of 0, times 2^12, and in the lowest bits the shifts of their "
        "requantization; the weights of 4 channels and 2 inputs per word, the first input in the lower half, the first "
        "channel in its lowest bits; what corrections are made of, for ANY 2 * zero point of the output + 1, for FLOOR "
        "2^10; the multipliers",
        block_count="output_dims.c / 4, rounded up",
        block_words="9, and half the inputs of a window rounded up to 8",
        forms=Form,
    ),
    priced_as="conv2d_pairs",
)


# Half a step of the first rounding of FLOOR, before the shift.
_HALF_STEP = 1 << (requantization.FLOOR_BITS - 2)


class Conv2dInt4Pairs(Conv2dPairs):
    """Like conv2d_pairs, with a load for the weights of four filters and two inputs. A shift and a mask make a weight
    the upper 4 of 16 bits, which SMLAD multiplies as it is: sums are 2^12 times as large, and the shift of the
    requantization takes that back. The shift itself lies in the lowest 12 bits of a sum, which no product changes:
    it is less than 2 to its power, so that it is gone when the sum has been shifted. The correction follows from it.
    """

    name = "conv2d_int4_pairs"
    like = conv2d.INT4
    isas = frozenset({Isa.DSP})
    assumes = "one group, and sums of 19 bits that fit one of the forms of requantization"
    draws = (_draw_general, _draw_words, _draw_pointwise)

    symbol = Symbol(KERNEL, helpers=HELPERS)

    def why_inexact(self, node: Node) -> str:
        return nibble_table.why_none(node, self.weights(node))

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        form, table = self.form(node), self.sums(node)
        shift, multiplier, _ = requantization.table(node, form).T
        # To the right of scaled sums; for ANY less one, because that makes the correction.
        shift = nibble_table.BITS - shift if form is Form.FLOOR else shift - 1
        scales = np.zeros((2, len(table) * CHANNELS), np.int32)
        scales[:, : len(shift)] = shift, multiplier
        shifts, multipliers = scales.reshape(2, -1, CHANNELS)
        table[:, :CHANNELS] |= shifts
        correction = _HALF_STEP if form is Form.FLOOR else 2 * node.output.zero_point + 1
        common = np.full((len(table), 1), correction, np.int32)
        return {"table": np.concatenate([table, common, multipliers], axis=1)}

    def scale_words(self, node: Node) -> int:
        return CHANNELS + 1

    def sums(self, node: Node) -> np.ndarray:
        return nibble_table.sums(node, self.weights(node), CHANNELS)

    def sum_words(self, inputs: int) -> int:
        return nibble_table.sum_words(inputs, CHANNELS)
