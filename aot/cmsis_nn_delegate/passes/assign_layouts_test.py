"""assign_layouts on hand-built graphs."""

import pytest

from cmsis_nn_delegate.graph.tensor_type import Element, Layout
from cmsis_nn_delegate.ops.attrs import SoftmaxAttrs
from cmsis_nn_delegate.passes.assign_layouts import assign_layouts
from cmsis_nn_delegate.testing.drawing import Drawing, wiring

NHWC = Layout.CHANNELS_LAST


def laid_out(graph):
    assign_layouts(graph)
    graph.verify()
    return wiring(graph)


def test_float_border_needs_no_transpose():
    d = Drawing()
    x = d.input(1, 2, 3, 3, element=Element.FLOAT32)
    graph = d.returns(d.dequantize(d.conv2d(d.quantize(x))))
    assert laid_out(graph) == "v1=quantize(v0) v2=conv2d(v1) v3=dequantize(v2) -> v3"
    assert [n.output.layout for n in graph.nodes] == [NHWC, NHWC, Layout.ROW_MAJOR]


def test_int8_border_is_transposed():
    d = Drawing()
    x = d.input(1, 2, 3, 3)
    graph = d.returns(d.node("add", d.conv2d(x), x, shape=x.shape))
    assert (
        laid_out(graph) == "v0_nhwc=transpose(v0) v1=conv2d(v0_nhwc) v2_nhwc=add(v1,v0_nhwc) v2=transpose(v2_nhwc)"
        " -> v2"
    )


def test_int8_output_that_is_read_inside():
    d = Drawing()
    y = d.conv2d(d.input(1, 2, 3, 3, layout=NHWC))
    graph = d.returns(y, d.max_pool2d(y, 3))
    assert laid_out(graph) == "v1_nhwc=conv2d(v0) v1=transpose(v1_nhwc) v2=max_pool2d(v1_nhwc) -> v1 v2"


@pytest.mark.parametrize("shape", [(2, 1, 4, 5), (2, 6, 1, 1)])
def test_one_order_for_both(shape):
    d = Drawing()
    assert laid_out(d.returns(d.conv2d(d.input(*shape)))) == "v1=conv2d(v0) -> v1"


def test_channels_last_border():
    d = Drawing()
    graph = d.returns(d.conv2d(d.input(1, 2, 3, 3, layout=NHWC), layout=NHWC))
    assert laid_out(graph) == "v1=conv2d(v0) -> v1"


def test_a_reshape_reads_the_input_as_it_is():
    d = Drawing()
    assert laid_out(d.returns(d.reshape(d.input(1, 2, 3, 3), 1, 18))) == "v1=reshape(v0) -> v1"


def softmax(d, x, dim=3):
    return d.node("softmax", x, shape=x.shape, attrs=SoftmaxAttrs(dim))


def layouts(graph):
    return {value.name: value.layout for value in graph.activations()}


def test_rows_stay_rows():
    d = Drawing()
    x = d.reshape(d.input(4, 18), 4, 2, 3, 3)
    y = softmax(d, d.node("add", x, x, shape=x.shape))
    graph = d.returns(d.reshape(y, 4, 18))
    assert laid_out(graph) == "v1=reshape(v0) v2=add(v1,v1) v3=softmax(v2) v4=reshape(v3) -> v4"
    assert set(layouts(graph).values()) == {Layout.ROW_MAJOR}


def test_one_transpose_for_two_readers():
    d = Drawing()
    y = d.conv2d(d.input(1, 2, 3, 3, layout=NHWC))
    graph = d.returns(d.max_pool2d(y, 3), d.reshape(softmax(d, y), 18), d.reshape(softmax(d, y), 6, 3))
    assert laid_out(graph) == (
        "v1=conv2d(v0) v2=max_pool2d(v1) v1_nchw=transpose(v1) v3=softmax(v1_nchw) v4=reshape(v3) v5=softmax(v1_nchw)"
        " v6=reshape(v5) -> v2 v4 v6"
    )


@pytest.mark.parametrize("convolutions, softmaxes, layout", [(3, 2, NHWC), (2, 3, Layout.ROW_MAJOR)])
def test_a_group_takes_what_moves_fewer_bytes(convolutions, softmaxes, layout):
    d = Drawing()
    images = [d.conv2d(d.input(1, 2, 3, 3, layout=NHWC)) for _ in range(convolutions)]
    images += [softmax(d, d.reshape(d.input(18), 1, 2, 3, 3)) for _ in range(softmaxes)]
    total = images[0]
    for image in images[1:]:
        total = d.node("add", total, image, shape=image.shape)
    graph = d.returns(d.dequantize(total))
    assign_layouts(graph)
    graph.verify()
    assert total.layout is layout
    moved = [node.inputs[0] for node in graph.nodes if node.op == "transpose"]
    assert len(moved) == 2 and all(value.layout is not layout for value in moved)


def test_a_group_without_wishes_avoids_copies():
    d = Drawing()
    x = d.input(1, 2, 3, 3, element=Element.FLOAT32)
    y = d.node("mul", d.quantize(x), d.quantize(x), shape=x.shape)
    graph = d.returns(d.dequantize(y))
    assign_layouts(graph)
    assert set(layouts(graph).values()) == {Layout.ROW_MAJOR}


def test_an_int8_border_between_rows_is_not_transposed():
    d = Drawing()
    x = d.input(1, 2, 3, 3)
    assert laid_out(d.returns(softmax(d, d.node("add", x, x, shape=x.shape)))) == "v1=add(v0,v0) v2=softmax(v1) -> v2"


def test_reshapes_between_free_images_do_not_keep_a_layout():
    d = Drawing()
    x = d.quantize(d.input(2, 2, 3, 3, element=Element.FLOAT32))
    graph = d.returns(d.dequantize(softmax(d, d.reshape(x, 2, 2, 3, 3))))
    assign_layouts(graph)
    assert set(layouts(graph).values()) == {Layout.ROW_MAJOR}
