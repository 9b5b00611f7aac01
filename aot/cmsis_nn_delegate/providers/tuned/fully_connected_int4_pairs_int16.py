"""The linear layer of `fully_connected_pairs_int16` with weights of 4 bits, for cores with DSP and without MVE."""

from __future__ import annotations

import numpy as np

from ...format.element import Element
from ...graph.ir import Node, Value
from ...ops import fully_connected
from ...ops.case import Case
from ...ops.kernel import KernelSpec
from ..implementation import Symbol
from . import drawing, fully_connected_pairs, nibble_table, requantization_int16
from .drawing import typed
from .fully_connected_int4_pairs import BLOCK_WORDS, TABLE
from .fully_connected_pairs import CHANNELS, FullyConnectedPairs
from .fully_connected_pairs_int16 import HELPERS, FullyConnectedPairsInt16


def _draw_fine_steps(d: Case) -> Value:
    """Outputs with finer steps than those of sums."""
    output = fully_connected_pairs.draw(d, Element.INT16, Element.INT4)
    drawing.finer_steps(d, 5)
    return output


KERNEL = KernelSpec(
    "fully_connected_int4_pairs_int16",
    fully_connected_pairs.struct(
        "FullyConnectedInt4PairsInt16Args",
        "int16 linear layer of one row, as fully_connected_int4_int16 computes it, from weights of 4 bits in the order "
        "of the products.",
        Element.INT16,
        table=TABLE,
        block_words=BLOCK_WORDS,
    ),
    priced_as="fully_connected_pairs_int16",
)


class FullyConnectedInt4PairsInt16(FullyConnectedPairsInt16):
    """`FullyConnectedPairsInt16` with the weights of `FullyConnectedInt4Pairs`."""

    name = "fully_connected_int4_pairs_int16"
    like = fully_connected.INT4_INT16
    draws = (*typed(FullyConnectedPairs.draws, element=Element.INT16, weights=Element.INT4), _draw_fine_steps)
    assumes = (
        "one row, outputs that nearly fill blocks of 8, and sums of 31 bits, in steps of the output if these are finer"
    )
    symbol = Symbol(KERNEL, helpers=HELPERS)

    def why_inexact(self, node: Node) -> str:
        return requantization_int16.why_not_fine(node)

    def scales(self, node: Node) -> np.ndarray:
        return requantization_int16.fine_packed(node)

    def sums(self, node: Node) -> np.ndarray:
        return nibble_table.offset_sums(node, self.weights(node), CHANNELS)

    def sum_words(self, inputs: int) -> int:
        return nibble_table.sum_words(inputs, CHANNELS)
