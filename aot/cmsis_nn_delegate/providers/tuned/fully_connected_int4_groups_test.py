"""Which linear layers with factors of groups the tuned kernels take."""

from __future__ import annotations

import re

import numpy as np
import pytest

from cmsis_nn_delegate.graph.ir import Node
from cmsis_nn_delegate.ops import fully_connected_groups
from cmsis_nn_delegate.providers.tuned.fully_connected_int4_groups_pairs import FullyConnectedInt4GroupsPairs
from cmsis_nn_delegate.providers.tuned.fully_connected_int4_groups_vectors import FullyConnectedInt4GroupsVectors
from cmsis_nn_delegate.testing.random_case import RandomCase

PAIRS, VECTORS = FullyConnectedInt4GroupsPairs(), FullyConnectedInt4GroupsVectors()
DIVISIBLE = "it computes groups of a multiple of"
EMPTY = "its weights come in blocks of 8 channels"


def layer(group: int, groups: int, outputs: int) -> Node:
    d = RandomCase(3)
    d.graph(fully_connected_groups.grouped(d, group, groups, outputs))
    (node,) = d.nodes
    return node


@pytest.mark.parametrize(
    "shape, pairs, vectors",
    [
        ((8, 3, 16), "", DIVISIBLE),
        ((16, 3, 16), "", ""),
        ((4, 3, 16), DIVISIBLE, DIVISIBLE),
        ((24, 3, 16), "", DIVISIBLE),
        ((16, 3, 4), "", ""),
        ((16, 3, 3), EMPTY, EMPTY),
        ((64, 4, 4), "", ""),  # 4 channels of 256 inputs are empty: 1,024 weights
        ((64, 5, 4), EMPTY, EMPTY),
    ],
)
def test_shapes(shape, pairs, vectors):
    node = layer(*shape)
    for kernel, reason in ((PAIRS, pairs), (VECTORS, vectors)):
        assert re.match(reason or "$", kernel.why_not(node)), (kernel.name, kernel.why_not(node))


@pytest.mark.parametrize("weight, most", [(-8, 504), (7, 584)])
def test_sums_of_19_bits(weight, most):
    """128 * 8 * 504 = 516,096 is below 2^19, which 8 inputs more reach."""
    for group, reason in ((most, ""), (most + 8, "the sum of a group may exceed 19 bits")):
        node = layer(group, 2, 16)
        node.inputs[1].constant[:] = np.sign(node.inputs[1].constant)
        assert PAIRS.why_not(node) == ""
        node.inputs[1].constant[5, group:] = weight
        assert PAIRS.why_not(node) == reason
    assert "19 bits" not in VECTORS.why_not(node)
