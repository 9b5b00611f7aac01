"""Linear layer of int16 of one row as products of 8 channels, for cores with DSP and without MVE."""

from __future__ import annotations

import numpy as np

from ...format.element import Element
from ...format.schema import Isa
from ...graph.ir import Node
from ...ops import fully_connected
from ..implementation import Symbol
from . import fully_connected_pairs, pair_table, requantization_int16
from .drawing import typed
from .fully_connected_pairs import FullyConnectedPairs
from .requantization import Form

HELPERS = ("runtime/kernels/common/row_products_int16_{isa}.S",)


class FullyConnectedPairsInt16(FullyConnectedPairs):
    """`FullyConnectedPairs` of int16, whose pairs of inputs are loaded as they are."""

    name = "fully_connected_pairs_int16"
    like = fully_connected.INT16
    isas = frozenset({Isa.DSP})
    assumes = "one row, outputs that nearly fill blocks of 8, and whose steps are at least four times those of sums"
    draws = typed(FullyConnectedPairs.draws, element=Element.INT16)
    symbol = Symbol(fully_connected_pairs.INT16, helpers=HELPERS)

    def why_inexact(self, node: Node) -> str:
        return requantization_int16.why_none(node)

    def form(self, node: Node) -> Form:
        """Returns what is not needed to tell calls apart: the kernel has one form for all of them."""
        return Form.ANY

    def scales(self, node: Node) -> np.ndarray:
        return requantization_int16.packed(node)

    def weights(self, node: Node) -> np.ndarray:
        return pair_table.for_int16(node.inputs[1].constant)
