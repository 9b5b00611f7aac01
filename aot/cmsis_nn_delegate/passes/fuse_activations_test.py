"""fuse_activations on hand-built graphs."""

from cmsis_nn_delegate.graph.tensor_type import Element, Quant
from cmsis_nn_delegate.ops.attrs import Clamp
from cmsis_nn_delegate.passes.fuse_activations import fuse_activations
from cmsis_nn_delegate.testing.drawing import Drawing, wiring


def fused(graph):
    fuse_activations(graph)
    graph.verify()
    return wiring(graph)


def test_float_clamp_goes_into_the_convolution():
    d = Drawing()
    x = d.input(1, 2, 3, 3, element=Element.FLOAT32)
    graph = d.returns(d.clamp(d.conv2d(x), 0, 6))
    assert fused(graph) == "v2=conv2d(v0) -> v2"
    assert graph.nodes[0].attrs.clamp == Clamp(0, 6)
    assert graph.nodes[0].sources == ("edge0", "edge1") and graph.nodes[0].debug_handles == (0, 1)


def test_clamps_add_up():
    d = Drawing()
    graph = d.returns(d.clamp(d.clamp(d.conv2d(d.input(1, 2, 3, 3)), 0, 6), -1, 4))
    assert fused(graph) == "v3=conv2d(v0) -> v3"
    assert graph.nodes[0].attrs.clamp == Clamp(0, 4)


def test_a_clamp_passes_a_reshape():
    d = Drawing()
    graph = d.returns(d.clamp(d.reshape(d.conv2d(d.input(1, 2, 3, 3)), 1, 18)))
    assert fused(graph) == "v1=conv2d(v0) v3=reshape(v1) -> v3"
    assert graph.nodes[0].attrs.clamp == Clamp(0, 6)


def test_a_producer_with_other_readers_stays():
    d = Drawing()
    y = d.conv2d(d.input(1, 2, 3, 3))
    assert fused(d.returns(d.clamp(y), y)) == "v1=conv2d(v0) v2=clamp(v1) -> v2 v1"
    d = Drawing()
    y = d.conv2d(d.input(1, 2, 3, 3))
    graph = d.returns(d.clamp(y), d.max_pool2d(y, 3))
    assert fused(graph) == "v1=conv2d(v0) v2=clamp(v1) v3=max_pool2d(v1) -> v2 v3"


def test_another_scale_stays():
    d = Drawing()
    graph = d.returns(d.clamp(d.conv2d(d.input(1, 2, 3, 3)), quant=Quant((0.25,), 0)))
    assert fused(graph) == "v1=conv2d(v0) v2=clamp(v1) -> v2"


def test_no_producer_that_could_clamp():
    d = Drawing()
    assert fused(d.returns(d.clamp(d.input(1, 4)))) == "v1=clamp(v0) -> v1"
