"""absorb_reshapes on hand-built graphs."""

import numpy as np
import pytest

from cmsis_nn_delegate.graph.tensor_type import Element, Layout
from cmsis_nn_delegate.ops.attrs import SoftmaxAttrs
from cmsis_nn_delegate.passes.absorb_reshapes import absorb_reshapes
from cmsis_nn_delegate.testing.drawing import Drawing, wiring

NHWC = Layout.CHANNELS_LAST


def absorbed(graph):
    absorb_reshapes(graph)
    graph.verify()
    return wiring(graph)


def test_linear_reads_a_flattened_pixel_directly():
    d = Drawing()
    x = d.input(2, 3, 1, 1, layout=NHWC)
    weight = np.arange(6, dtype=np.int8).reshape(2, 3)
    graph = d.returns(d.linear(d.reshape(x, 2, 3), weight))
    assert absorbed(graph) == "v2=fully_connected(v0) -> v2"
    assert graph.nodes[0].inputs[1].data is weight


def test_linear_gets_other_columns_for_a_flattened_image():
    d = Drawing()
    x = d.input(1, 2, 1, 3, layout=NHWC)
    flat = d.reshape(x, 1, 6)
    columns = np.array([[0, 1, 2, 10, 11, 12]], np.int8)  # channel * 10 + pixel
    graph = d.returns(d.linear(flat, columns), d.linear(flat, columns))
    assert absorbed(graph) == "v2=fully_connected(v0) v3=fully_connected(v0) -> v2 v3"
    for node in graph.nodes:
        assert node.inputs[1].data.tolist() == [[0, 10, 1, 11, 2, 12]]


def test_a_flattened_image_for_others_is_transposed():
    d = Drawing()
    flat = d.reshape(d.input(1, 2, 1, 3, layout=NHWC), 1, 6)
    graph = d.returns(
        d.linear(flat, np.ones((1, 6), np.int8)),
        d.node("softmax", flat, shape=(1, 6), attrs=SoftmaxAttrs(1)),
    )
    assert absorbed(graph) == "v1=transpose(v0) v2=fully_connected(v0) v3=softmax(v1) -> v2 v3"
    assert graph.nodes[0].output.layout is Layout.ROW_MAJOR


def test_batches_that_do_not_fit_the_rows_are_transposed():
    d = Drawing()
    flat = d.reshape(d.input(2, 3, 2, 2, layout=NHWC), 6, 4)
    graph = d.returns(d.linear(flat, np.ones((1, 4), np.int8)))
    assert absorbed(graph) == "v1=transpose(v0) v2=fully_connected(v1) -> v2"


def test_chains_become_one():
    d = Drawing()
    x = d.reshape(d.reshape(d.input(2, 6), 12), 3, 4)
    assert absorbed(d.returns(d.linear(x, np.ones((1, 4), np.int8)))) == "v3=fully_connected(v0) -> v3"


def test_softmax_reads_rows_wherever_they_are():
    d = Drawing()
    x = d.input(2, 5, 1, 1, layout=NHWC)
    graph = d.returns(d.node("softmax", d.reshape(x, 1, 2, 5), shape=(1, 2, 5), attrs=SoftmaxAttrs(2)))
    assert absorbed(graph) == "v2=softmax(v0) -> v2"
    assert graph.nodes[0].attrs == SoftmaxAttrs(1)


def test_dequantize_brings_back_the_order():
    d = Drawing()
    graph = d.returns(d.dequantize(d.reshape(d.input(1, 2, 3, 3, layout=NHWC), 1, 18)))
    assert absorbed(graph) == "v2=dequantize(v0) -> v2"


def test_quantize_writes_the_image():
    d = Drawing()
    x = d.input(1, 18, element=Element.FLOAT32)
    image = d.reshape(d.quantize(x), 1, 2, 3, 3, layout=NHWC)
    graph = d.returns(d.conv2d(image, layout=NHWC))
    assert absorbed(graph) == "v2=quantize(v0) v3=conv2d(v2) -> v3"


def test_linear_writes_the_image_if_the_order_stays():
    d = Drawing()
    y = d.linear(d.input(1, 3), np.ones((4, 3), np.int8))
    graph = d.returns(d.conv2d(d.reshape(y, 1, 1, 2, 2, layout=NHWC), layout=NHWC))
    assert absorbed(graph) == "v2=fully_connected(v0) v3=conv2d(v2) -> v3"


@pytest.mark.parametrize("shape", [(1, 18), (1, 18, 1)])
def test_a_returned_reshape_of_an_input_is_a_copy(shape):
    d = Drawing()
    graph = d.returns(d.reshape(d.input(2, 9), *shape))
    assert absorbed(graph) == "v1=transpose(v0) -> v1"
    assert graph.outputs[0].shape == shape


def test_image_to_image_moves_twice():
    d = Drawing()
    y = d.reshape(d.conv2d(d.input(1, 4, 2, 3, layout=NHWC), layout=NHWC), 1, 2, 3, 4, layout=NHWC)
    graph = d.returns(d.conv2d(y, layout=NHWC))
    assert absorbed(graph) == "v1=conv2d(v0) v1_nchw=transpose(v1) v2=transpose(v1_nchw) v3=conv2d(v2) -> v3"


def test_unread_reshapes_vanish():
    d = Drawing()
    x = d.input(1, 4)
    d.reshape(x, 4)
    assert absorbed(d.returns(d.linear(x, np.ones((1, 4), np.int8)))) == "v2=fully_connected(v0) -> v2"
