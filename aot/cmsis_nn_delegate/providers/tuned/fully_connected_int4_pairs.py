"""The linear layer of `fully_connected_pairs` with weights of 4 bits, for cores with DSP."""

from __future__ import annotations

import numpy as np

from ...format.element import Element
from ...format.schema import Isa
from ...graph.ir import Node, Value
from ...ops import fully_connected
from ...ops.case import Case
from ...ops.kernel import KernelSpec
from ..implementation import Symbol
from . import fully_connected_pairs, nibble_table
from .fully_connected_pairs import CHANNELS, HELPERS, FullyConnectedPairs


def _draw(d: Case) -> Value:
    return fully_connected_pairs.draw(d, weights=Element.INT4)


def _draw_whole_blocks(d: Case) -> Value:
    return fully_connected_pairs.draw_whole_blocks(d, weights=Element.INT4)


KERNEL = KernelSpec(
    "fully_connected_int4_pairs",
    fully_connected_pairs.struct(
        "FullyConnectedInt4PairsArgs",
        "int8 linear layer of one row, as fully_connected_int4 computes it, from weights of 4 bits in the order of the "
        "products.",
        table="for each 8 channels: 8 sums for inputs of 0, times 2^12; the weights of 4 channels and 2 inputs "
        "per word, the first input in the lower half, the first channel in its lowest bits",
        block_words="8, and the inputs rounded up to 8",
    ),
    priced_as="fully_connected_pairs",
)


class FullyConnectedInt4Pairs(FullyConnectedPairs):
    """Like fully_connected_pairs, with a load for the weights of four channels and two inputs, as conv2d_int4_pairs."""

    name = "fully_connected_int4_pairs"
    like = fully_connected.INT4
    isas = frozenset({Isa.DSP})
    assumes = (
        "one row, outputs that nearly fill blocks of 8, and sums of 19 bits that fit one of the forms of requantization"
    )
    draws = (_draw, _draw_whole_blocks)

    symbol = Symbol(KERNEL, helpers=HELPERS)

    def why_inexact(self, node: Node) -> str:
        return nibble_table.why_none(node, self.weights(node))

    def scales(self, node: Node) -> np.ndarray:
        return nibble_table.packed(node, self.form(node))

    def sums(self, node: Node) -> np.ndarray:
        return nibble_table.sums(node, self.weights(node), CHANNELS)

    def sum_words(self, inputs: int) -> int:
        return nibble_table.sum_words(inputs, CHANNELS)
