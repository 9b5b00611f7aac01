"""Convolution of int16 as a product of 2 pixels by 4 channels, for cores with DSP and without MVE."""

from __future__ import annotations

import math
from typing import Optional

import numpy as np

from ...format.element import Element
from ...format.schema import Isa
from ...graph.ir import Node
from ...ops import conv2d
from ...ops.kernel import KernelSpec
from ..implementation import Symbol
from . import block_args, conv2d_pairs, pair_table, requantization_int16
from .conv2d_pairs import Conv2dPairs
from .drawing import typed
from .requantization import Form

_ELEMENT = Element.INT16


HELPERS = ("runtime/kernels/common/pair_products_int16_{isa}.S",)

KERNEL = KernelSpec(
    "conv2d_pairs_int16",
    block_args.struct(
        "Conv2dPairsInt16Args",
        "int16 convolution of one group, as conv2d_int16 computes it, from weights in the order of the products.",
        table="for each 4 channels: 4 biases; the weights of 2 channels and 2 inputs per word; (shift, multiplier, "
        "correction) of each",
        block_count="output_dims.c / 4, rounded up",
        block_words="16, and the inputs of a window rounded up to 8",
        forms=Form,
        element=_ELEMENT,
    ),
)


class Conv2dPairsInt16(Conv2dPairs):
    """`Conv2dPairs` of int16: inputs need no widening, so that two windows are only interleaved, and those that reach
    into the padding are put there without a copy."""

    name = "conv2d_pairs_int16"
    like = conv2d.INT16
    isas = frozenset({Isa.DSP})
    assumes = "one group, and outputs whose steps are at least four times those of sums"
    draws = typed(Conv2dPairs.draws, element=_ELEMENT)
    symbol = Symbol(KERNEL, helpers=HELPERS)

    def scratch_bytes(self, node: Node) -> int:
        """The interleaved inputs of two windows."""
        return -(-4 * pair_table.depth(math.prod(node.inputs[1].shape[1:])) // 16) * 16

    def distance(self, node: Node) -> Optional[int]:
        elements = super().distance(node)
        return None if elements is None else _ELEMENT.nbytes(elements)

    def why_inexact(self, node: Node) -> str:
        return requantization_int16.why_none(node)

    def form(self, node: Node) -> Form:
        return requantization_int16.form(node)

    def scales(self, node: Node) -> np.ndarray:
        return requantization_int16.table(node)

    def weights(self, node: Node) -> np.ndarray:
        return pair_table.for_int16(conv2d_pairs.in_order(node))
