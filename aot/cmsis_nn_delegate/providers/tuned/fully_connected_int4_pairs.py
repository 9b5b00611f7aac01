"""The linear layer of `fully_connected_pairs` with weights of 4 bits, for cores with DSP."""

from __future__ import annotations

import numpy as np

from ...format.element import Element
from ...format.schema import Isa
from ...graph.ir import Node, Value
from ...graph.tensor_type import Quant
from ...ops import fully_connected
from ...ops.case import Case
from ...ops.kernel import KernelSpec
from ..implementation import Symbol
from . import fully_connected_pairs, nibble_table
from .drawing import typed
from .fully_connected_pairs import CHANNELS, HELPERS, FullyConnectedPairs


def _draw_large_biases(d: Case) -> Value:
    """Sums of some 28 bits, which the products alone do not have."""
    x = d.input(1, d.integer(1, 300))
    output = d.fully_connected(x, 8 * d.integer(1, 4), d.clamp(), element=Element.INT4)
    weight, bias = d.nodes[-1].inputs[1:]
    scales = 2.0 ** d.random.uniform(-22, -20, len(bias.constant)) * output.scale / x.scale
    weight.retype(quant=Quant(tuple(map(float, scales)), 0, axis=0))
    d.nodes[-1].inputs[2] = d.constant(bias.shape, Element.INT32, -(1 << 28), 1 << 28)
    return d.maybe_relu(output)


TABLE = (
    "for each 8 channels: 8 sums for inputs of 0; the weights of 4 channels and 2 inputs per word, 8 more than they "
    "are, the first input in the lower half, the first channel in its lowest bits"
)
BLOCK_WORDS = "8, and the inputs rounded up to 8"

KERNEL = KernelSpec(
    "fully_connected_int4_pairs",
    fully_connected_pairs.struct(
        "FullyConnectedInt4PairsArgs",
        "int8 linear layer of one row, as fully_connected_int4 computes it, from weights of 4 bits in the order of the "
        "products.",
        table=TABLE,
        block_words=BLOCK_WORDS,
    ),
    priced_as="fully_connected_pairs",
)


class FullyConnectedInt4Pairs(FullyConnectedPairs):
    """Like fully_connected_pairs, with a load for the weights of four channels and two inputs. A mask makes pairs of
    them, 8 more than they are, so that each sum starts with 8 times the sum of the inputs less."""

    name = "fully_connected_int4_pairs"
    like = fully_connected.INT4
    isas = frozenset({Isa.DSP})
    draws = (*typed(FullyConnectedPairs.draws, weights=Element.INT4), _draw_large_biases)

    symbol = Symbol(KERNEL, helpers=HELPERS)

    def sums(self, node: Node) -> np.ndarray:
        return nibble_table.offset_sums(node, self.weights(node), CHANNELS)

    def sum_words(self, inputs: int) -> int:
        return nibble_table.sum_words(inputs, CHANNELS)
