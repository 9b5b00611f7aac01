"""The linear layer of `fully_connected_pairs` with weights of two channels in 16 bits, for cores with DSP."""

from __future__ import annotations

import numpy as np

from ...format.schema import Isa
from ...graph.ir import Node
from ...ops.kernel import KernelSpec
from ..implementation import Symbol
from . import fully_connected_pairs, pair_table
from .fully_connected_pairs import CHANNELS, HELPERS, FullyConnectedPairs

KERNEL = KernelSpec(
    "fully_connected_joint_pairs",
    fully_connected_pairs.struct(
        "FullyConnectedJointPairsArgs",
        "int8 linear layer of one row, as fully_connected computes it, from weights of two channels in 16 bits.",
        table="for each 8 channels: 8 sums for inputs of 0; the weights of 2 channels and 2 inputs per word; of every "
        "second channel, both are 256 times its own, and those of the channel before",
    ),
    priced_as="fully_connected_pairs",
)


class FullyConnectedJointPairs(FullyConnectedPairs):
    """Like fully_connected_pairs, with weights as `Conv2dJointPairs` has them."""

    name = "fully_connected_joint_pairs"
    isas = frozenset({Isa.DSP})
    assumes = (
        f"{FullyConnectedPairs.assumes}, and of every second channel 23 bits, without weights of -128 beside negative "
        "ones of the channel before"
    )

    symbol = Symbol(KERNEL, helpers=HELPERS)

    def why_inexact(self, node: Node) -> str:
        return super().why_inexact(node) or pair_table.why_not_joint(node, self.weights(node))

    def sums(self, node: Node) -> np.ndarray:
        return pair_table.joint(super().sums(node), CHANNELS)
