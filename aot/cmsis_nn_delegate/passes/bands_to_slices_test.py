"""Bands of an image are computed where they lie, and the results stay."""

import copy
from collections import Counter

import numpy as np
import pytest

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.graph.ir import Value
from cmsis_nn_delegate.passes.bands_to_slices import bands_to_slices
from cmsis_nn_delegate.passes.run_passes import PASSES
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder


class Network(GraphBuilder):
    def reshape(self, x, *shape):
        return self._append("reshape", [x], Value(f"v{len(self.nodes)}", x.type.of(shape=shape)), None)

    def bands(self, shape, inner, back=None, **options):
        x = self.input(*shape)
        y = self.depthwise_conv2d(self.reshape(self.depthwise_conv2d(x, kernel=(1, 1)), *inner), **options)
        return self.graph(self.depthwise_conv2d(self.reshape(y, *(back or shape)), kernel=(1, 1)))


def lowered(graph, without=None):
    for step in PASSES:
        if step is not without:
            step(graph)
    graph.verify()
    return graph


def assert_same_results(graph, without):
    whole = lowered(copy.deepcopy(graph), without)
    data = np.random.default_rng(1).integers(-128, 128, graph.inputs[0].shape, np.int8)
    for a, b in zip(reference.run(whole, [data]), reference.run(lowered(graph), [data])):
        assert np.array_equal(a, b)


def ops(graph):
    return [node.op for node in graph.nodes]


@pytest.mark.parametrize("bands", [2, 4])
def test_nothing_moves(bands):
    graph = Network(seed=bands).bands((1, 6, 8, 5), (1, 6 * bands, 8 // bands, 5), kernel=(1, 1))
    assert_same_results(graph, bands_to_slices)
    assert Counter(ops(graph)) == {"depthwise_conv2d": 2 + bands, "part": bands, "join": 1}


@pytest.mark.parametrize(
    "shapes, kernel",
    [
        (((1, 6, 8, 5), (1, 12, 4, 5)), (3, 1)),  # its rows are not those next to each other in the image
        (((2, 6, 8, 5), (2, 12, 4, 5)), (1, 1)),  # bands of a batch lie apart
        (((1, 6, 8, 4), (1, 12, 8, 2)), (1, 1)),  # columns
        (((1, 6, 8, 4), (1, 12, 4, 4), (1, 12, 2, 8)), (1, 1)),  # another shape afterwards
    ],
)
def test_others_stay(shapes, kernel):
    graph = Network().bands(*shapes, kernel=kernel)
    before = ops(graph)
    bands_to_slices(graph)
    assert ops(graph) == before
