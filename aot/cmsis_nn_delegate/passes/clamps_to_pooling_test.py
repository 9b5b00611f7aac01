"""clamps_to_pooling on hand-built graphs."""

from cmsis_nn_delegate.ops.attrs import Clamp, PoolAttrs
from cmsis_nn_delegate.passes.clamps_to_pooling import clamps_to_pooling
from cmsis_nn_delegate.testing.drawing import Drawing, wiring


def test_a_clamp_of_an_image_is_pooling():
    d = Drawing()
    graph = d.returns(d.clamp(d.input(2, 3, 4, 5), -1, 1))
    clamps_to_pooling(graph)
    assert wiring(graph) == "v1=max_pool2d(v0) -> v1"
    assert graph.nodes[0].attrs == PoolAttrs((1, 1), (1, 1), clamp=Clamp(-1, 1))


def test_other_shapes_become_images():
    for shape, image in (
        ((2, 7), (1, 7, 2, 1)),
        ((5,), (1, 5, 1, 1)),
        ((2, 3, 4), (1, 4, 6, 1)),
        ((), (1, 1, 1, 1)),
        ((200, 200, 4), (1, 4, 40000, 1)),
        ((211, 211, 211, 1, 2), (1, 2, 211**3, 1)),
    ):
        d = Drawing()
        graph = d.returns(d.clamp(d.input(*shape)))
        clamps_to_pooling(graph)
        graph.verify()
        assert wiring(graph) == "v0_image=reshape(v0) v1_image=max_pool2d(v0_image) v1=reshape(v1_image) -> v1"
        assert graph.nodes[1].inputs[0].shape == graph.nodes[1].output.shape == image
