"""Nodes that compute the same."""

import numpy as np

from cmsis_nn_delegate.passes.merge_identical_nodes import merge_identical_nodes
from cmsis_nn_delegate.testing.drawing import Drawing, wiring


def test_chains_of_equal_nodes_become_one():
    d = Drawing()
    x = d.input(1, 2, 4, 4)
    branches = [d.max_pool2d(d.conv2d(x), 2) for _ in range(3)]
    graph = d.returns(*(d.clamp(y, 0, limit) for limit, y in enumerate(branches, 1)))
    merge_identical_nodes(graph)
    assert wiring(graph) == "v1=conv2d(v0) v2=max_pool2d(v1) v7=clamp(v2) v8=clamp(v2) v9=clamp(v2) -> v7 v8 v9"
    assert graph.nodes[0].sources == ("edge0", "edge2", "edge4")
    assert graph.notes[0] == "v3: the same as v1 is computed once" and len(graph.notes) == 4


def test_other_weights_attributes_or_types_stay():
    d = Drawing()
    x = d.input(2, 3)
    rows = np.ones((2, 3), np.int8)
    values = [d.linear(x, rows), d.linear(x, 2 * rows), d.clamp(x, 0, 1), d.clamp(x, 0, 2)]
    graph = d.returns(*(d.reshape(value, 1, value.numel) for value in values))
    merge_identical_nodes(graph)
    assert len(graph.nodes) == 8 and not graph.notes


def test_outputs_each_keep_their_node():
    d = Drawing()
    x = d.input(2, 3)
    graph = d.returns(d.clamp(x), d.clamp(x))
    merge_identical_nodes(graph)
    assert len(graph.nodes) == 2
