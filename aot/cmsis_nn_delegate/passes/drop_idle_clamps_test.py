"""Clamps that cannot act."""

import pytest

from cmsis_nn_delegate.ops.attrs import Clamp, ConvAttrs
from cmsis_nn_delegate.passes.drop_idle_clamps import drop_idle_clamps
from cmsis_nn_delegate.testing.drawing import Drawing, wiring


def clamped(limits, *, output=False):
    """A convolution that gives -128 to -108 (0 to 10 in steps of 0.5), a clamp, and a pooling of that."""
    d = Drawing()
    y = d.conv2d(d.input(1, 2, 4, 4))
    d.graph.nodes[0].attrs = ConvAttrs(clamp=Clamp(0.0, 10.0))
    z = d.clamp(y, *limits)
    return d.returns(z if output else d.max_pool2d(z, 2))


@pytest.mark.parametrize("limits", [(0.0, 10.0), (-1.0, 11.0)])
def test_a_clamp_within_whose_limits_everything_lies_goes(limits):
    graph = clamped(limits)
    drop_idle_clamps(graph)
    assert [node.op for node in graph.nodes] == ["conv2d", "max_pool2d"]
    assert wiring(graph).endswith("v3=max_pool2d(v1) -> v3") and "edge1" in graph.nodes[0].sources
    assert graph.notes == ["v2: a clamp that cannot act is left out"]


@pytest.mark.parametrize("limits", [(0.0, 9.5), (0.5, 10.0)])
def test_one_that_can_act_stays(limits):
    graph = clamped(limits)
    drop_idle_clamps(graph)
    assert [node.op for node in graph.nodes] == ["conv2d", "clamp", "max_pool2d"] and not graph.notes


def test_outputs_of_the_graph_stay():
    graph = clamped((0.0, 10.0), output=True)
    drop_idle_clamps(graph)
    assert [node.op for node in graph.nodes] == ["conv2d", "clamp"]


def test_a_clamp_of_an_input_stays():
    d = Drawing()
    graph = d.returns(d.max_pool2d(d.clamp(d.input(1, 2, 4, 4), -1e9, 1e9), 2))
    drop_idle_clamps(graph)
    assert [node.op for node in graph.nodes] == ["clamp", "max_pool2d"]
