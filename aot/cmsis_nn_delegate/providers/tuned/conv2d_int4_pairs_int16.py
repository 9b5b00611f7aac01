"""The convolution of `conv2d_pairs_int16` with weights of 4 bits, for cores with DSP and without MVE."""

from __future__ import annotations

import numpy as np

from ...format.element import Element
from ...graph.ir import Node, Value
from ...ops import conv2d
from ...ops.case import Case
from ...ops.kernel import KernelSpec
from ..implementation import Symbol
from . import block_args, conv2d_pairs, drawing, nibble_table, requantization_int16
from .conv2d_int4_pairs import DRAWS
from .conv2d_pairs import CHANNELS
from .conv2d_pairs_int16 import HELPERS, Conv2dPairsInt16
from .drawing import typed
from .requantization import Form

_ELEMENT = Element.INT16


def _draw_fine_steps(d: Case) -> Value:
    """Outputs with finer steps than those of sums."""
    output = conv2d_pairs.draw_pointwise(d, _ELEMENT, Element.INT4)
    drawing.finer_steps(d, 5)
    return output


KERNEL = KernelSpec(
    "conv2d_int4_pairs_int16",
    block_args.struct(
        "Conv2dInt4PairsInt16Args",
        "int16 convolution of one group, as conv2d_int4_int16 computes it, from weights of 4 bits in the order of the "
        "products.",
        table="for each 4 channels: 4 biases; the weights of 4 channels and 2 inputs per word, 8 more than they are, "
        "the first input in the lower half, the first channel in its lowest bits; (shifts, multiplier, correction) of "
        "each",
        block_count="output_dims.c / 4, rounded up",
        block_words="16, and half the inputs of a window rounded up to 8",
        forms=Form,
        element=_ELEMENT,
    ),
    priced_as="conv2d_pairs_int16",
)


class Conv2dInt4PairsInt16(Conv2dPairsInt16):
    """`Conv2dPairsInt16` with a load for the weights of four filters and two inputs. A mask makes pairs of them, 8 more
    than they are, so that the sums of a window start with 8 times the sum of its inputs less."""

    name = "conv2d_int4_pairs_int16"
    like = conv2d.INT4_INT16
    draws = (*typed(DRAWS, element=_ELEMENT, weights=Element.INT4), _draw_fine_steps)
    assumes = "one group, and sums of 31 bits, in steps of the output if these are finer"
    symbol = Symbol(KERNEL, helpers=HELPERS)

    def why_inexact(self, node: Node) -> str:
        return requantization_int16.why_not_fine(node)

    def form(self, node: Node) -> Form:
        """Returns ANY for what is FINE in requantization_int16.py."""
        return Form.ANY if requantization_int16.why_none(node) else super().form(node)

    def scales(self, node: Node) -> np.ndarray:
        return super().scales(node) if self.form(node) is Form.FLOOR else requantization_int16.fine_table(node)

    def sums(self, node: Node) -> np.ndarray:
        return nibble_table.offset_sums(node, self.weights(node), CHANNELS)

    def sum_words(self, inputs: int) -> int:
        return nibble_table.sum_words(inputs, CHANNELS)
