"""Taps that lie apart become neighbours, and the results stay."""

import copy

import numpy as np
import pytest

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.ops.attrs import Padding
from cmsis_nn_delegate.passes.rows_of_neighbours import rows_of_neighbours
from cmsis_nn_delegate.passes.run_passes import PASSES
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder


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


def dilations(graph):
    return [node.attrs.dilation for node in graph.nodes if "conv2d" in node.op]


def signal(
    steps,
    taps,
    distance,
    before,
    after=0,
    *,
    across=False,
    rows=1,
    depthwise=False,
    stride=1,
    kernel_across=1,
    last=False,
):
    """A convolution along the width, or the height if it is `across`."""
    pair = (lambda a, b: (b, a)) if across else (lambda a, b: (a, b))
    builder = GraphBuilder(seed=steps + taps)
    x = builder.input(1, 3, *pair(rows, steps))
    padding = Padding(top=before, bottom=after) if across else Padding(left=before, right=after)
    make = builder.depthwise_conv2d if depthwise else lambda x, **options: builder.conv2d(x, 4, **options)
    options = {"kernel": pair(kernel_across, taps), "dilation": pair(1, distance), "stride": pair(1, stride)}
    y = make(x, padding=padding, **options)
    return builder.graph(y if last else builder.conv2d(y, 2, (1, 1)))


@pytest.mark.parametrize("across", [False, True])
@pytest.mark.parametrize("depthwise", [False, True])
@pytest.mark.parametrize(
    "steps, taps, distance, before, after", [(64, 3, 4, 8, 0), (12, 2, 3, 0, 0), (12, 3, 2, 2, 2), (8, 3, 4, 0, 8)]
)
def test_rows_give_the_same_results(steps, taps, distance, before, after, depthwise, across):
    graph = signal(steps, taps, distance, before, after, depthwise=depthwise, across=across)
    assert_same_results(graph, rows_of_neighbours)
    assert dilations(graph) == [(1, 1), (1, 1)]
    assert all("conv2d" in node.op or node.op == "part" for node in graph.nodes)  # the reshapes cost nothing


@pytest.mark.parametrize(
    "graph",
    [
        signal(63, 3, 2, 4),  # the last row would be shorter
        signal(64, 3, 4, 2, 6),  # windows would begin within a row
        signal(64, 3, 4, 8, 1),  # as many results would be left over
        signal(64, 3, 4, 8, rows=2),
        signal(65, 3, 4, 4, 4, stride=2),
        signal(12, 2, 3, 0, rows=2, kernel_across=2),
        signal(64, 3, 4, 8, last=True),  # a reshape of the result would be a copy
    ],
)
def test_others_stay(graph):
    before = dilations(graph)
    rows_of_neighbours(graph)
    assert dilations(graph) == before
