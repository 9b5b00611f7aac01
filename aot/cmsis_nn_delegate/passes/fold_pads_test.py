"""fold_pads on hand-built graphs."""

import pytest

from cmsis_nn_delegate.ops.attrs import Padding
from cmsis_nn_delegate.passes.fold_pads import fold_pads
from cmsis_nn_delegate.testing.drawing import Drawing, wiring

ODD = Padding(top=0, left=1, bottom=2, right=3)


def folded(graph):
    fold_pads(graph)
    graph.verify()
    return wiring(graph)


@pytest.mark.parametrize("op", ["conv2d", "depthwise_conv2d"])
def test_zeros_go_into_convolutions(op):
    d = Drawing()
    graph = d.returns(d.conv2d(d.pad(d.input(1, 2, 3, 3), ODD), Padding(1, 1, 1, 1), op))
    assert folded(graph) == f"v2={op}(v0) -> v2"
    assert graph.nodes[0].attrs.padding == Padding(1, 2, 3, 4)
    assert graph.nodes[0].output.shape == (1, 2, 7, 9)


def test_pads_of_pads():
    d = Drawing()
    graph = d.returns(d.conv2d(d.pad(d.pad(d.input(1, 2, 3, 3), ODD), ODD)))
    assert folded(graph) == "v3=conv2d(v0) -> v3"
    assert graph.nodes[0].attrs.padding == Padding(0, 2, 4, 6)


def test_every_reader_gets_it():
    d = Drawing()
    padded = d.pad(d.input(1, 2, 3, 3), ODD)
    assert folded(d.returns(d.conv2d(padded), d.conv2d(padded))) == "v2=conv2d(v0) v3=conv2d(v0) -> v2 v3"


def test_the_lowest_value_goes_into_max_pooling():
    d = Drawing()  # with scale 0.5 and zero point -128, 0 is the lowest
    graph = d.returns(d.max_pool2d(d.pad(d.input(1, 2, 3, 3), Padding(0, 0, 1, 1)), 2))
    assert folded(graph) == "v2=max_pool2d(v0) -> v2"
    assert graph.nodes[0].attrs.padding == Padding(0, 0, 1, 1)


@pytest.mark.parametrize("value", [0.5, 1.0])
def test_other_values_stay(value):
    d = Drawing()
    graph = d.returns(
        d.max_pool2d(d.pad(d.input(1, 2, 3, 3), Padding(0, 0, 1, 1), value), 2),
        d.conv2d(d.pad(d.input(1, 2, 3, 3), ODD, value)),
    )
    assert folded(graph).count("pad(") == 2
