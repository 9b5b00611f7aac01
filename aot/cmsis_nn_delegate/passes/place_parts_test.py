"""place_parts on hand-built graphs."""

import pytest

from cmsis_nn_delegate.graph.tensor_type import Layout
from cmsis_nn_delegate.ops.attrs import ConcatAttrs, TransposeAttrs
from cmsis_nn_delegate.ops.join import JoinAttrs
from cmsis_nn_delegate.ops.strided_copy import StridedCopyAttrs
from cmsis_nn_delegate.passes.place_parts import place_parts
from cmsis_nn_delegate.testing.drawing import Drawing, wiring

LAST = Layout.CHANNELS_LAST


def concat(d, axis, *values, **options):
    shape = list(values[0].shape)
    shape[axis] = sum(value.shape[axis] for value in values)
    options.setdefault("layout", values[0].layout)
    return d.node("concat", *values, shape=shape, attrs=ConcatAttrs(axis), **options)


def image(d, *shape):
    """What a kernel computes, as images lie between kernels."""
    return d.conv2d(d.input(*shape, layout=LAST), layout=LAST)


def test_rows_of_an_image_are_computed_in_their_place():
    d = Drawing()
    top, bottom = image(d, 1, 3, 2, 5), image(d, 1, 3, 4, 5)
    whole = concat(d, 2, top, bottom)
    graph = d.returns(d.max_pool2d(whole, 2))
    place_parts(graph)
    assert wiring(graph) == "v1=conv2d(v0) v3=conv2d(v2) v4=join(v1,v3) v5=max_pool2d(v4) -> v5"
    assert graph.nodes[2].attrs == JoinAttrs(1, (30, 60))
    # The join is no call, so that the calls stand for what it stands for.
    assert "edge2" in graph.nodes[0].sources and "edge2" in graph.nodes[1].sources


def test_channels_of_an_image_are_copied():
    d = Drawing()
    graph = d.returns(d.max_pool2d(concat(d, 1, image(d, 1, 3, 2, 5), image(d, 1, 4, 2, 5)), 2))
    place_parts(graph)
    assert wiring(graph) == (
        "v1=conv2d(v0) v3=conv2d(v2) v4_part0=strided_copy(v1) v4_part1=strided_copy(v3) "
        "v4=join(v4_part0,v4_part1) v5=max_pool2d(v4) -> v5"
    )
    join = graph.nodes[4].attrs
    assert join == JoinAttrs(10, (3, 4)) and join.row == 7
    assert [value.numel for value in graph.nodes[4].inputs] == [9 * 7 + 3, 9 * 7 + 4]


def test_channels_of_a_row_major_image_and_of_one_pixel_are_not():
    for shape, layout in (((1, 3, 2, 5), Layout.ROW_MAJOR), ((1, 3, 1, 1), LAST)):
        d = Drawing()
        first, second = (d.conv2d(d.input(*shape, layout=layout), layout=layout) for _ in range(2))
        graph = d.returns(concat(d, 1, first, second))
        place_parts(graph)
        assert wiring(graph).endswith("v4=join(v1,v3) -> v4")


def test_what_has_memory_of_its_own_is_copied():
    d = Drawing()
    x, y = d.input(1, 4), d.input(1, 4)
    returned = d.node("softmax", x, shape=(1, 4))
    twice = d.node("softmax", y, shape=(1, 4))
    graph = d.returns(returned, concat(d, 1, x, returned, twice, twice))
    place_parts(graph)
    assert wiring(graph) == (
        "v2=softmax(v0) v3=softmax(v1) v4_part0=transpose(v0) v4_part1=transpose(v2) v4_part3=transpose(v3) "
        "v4=join(v4_part0,v4_part1,v3,v4_part3) -> v2 v4"
    )


def test_concat_of_concat():
    d = Drawing()
    a, b, c = (d.node("softmax", d.input(1, 4), shape=(1, 4)) for _ in range(3))
    inner = concat(d, 1, a, b)
    graph = d.returns(concat(d, 1, c, inner), d.node("softmax", inner, shape=(1, 8)))
    place_parts(graph)
    assert wiring(graph).endswith("v6=join(v1,v3) v7=join(v5,v6) v8=softmax(v6) -> v7 v8")


@pytest.mark.parametrize("axis, rows", [(0, 1), (1, 30), (2, 2), (3, 6)])
def test_rows_by_axis(axis, rows):
    d = Drawing()
    graph = d.returns(d.max_pool2d(concat(d, axis, image(d, 2, 4, 3, 5), image(d, 2, 4, 3, 5)), 1))
    place_parts(graph)
    (join,) = (node for node in graph.nodes if node.op == "join")
    assert join.attrs.rows == rows


def test_copies_go_to_their_place_directly():
    d = Drawing()
    x = image(d, 1, 4, 2, 3)
    half = StridedCopyAttrs((1, 2, 2, 3), (6, 2), (4, 1), (2, 1), 2)
    slice_ = d.node("strided_copy", x, shape=half.shape, attrs=half, layout=LAST)
    graph = d.returns(d.max_pool2d(concat(d, 1, image(d, 1, 3, 2, 3), slice_), 1))
    place_parts(graph)
    assert wiring(graph) == (
        "v1=conv2d(v0) v4=conv2d(v3) v5_part0=strided_copy(v4) v5_part1=strided_copy(v1) "
        "v5=join(v5_part0,v5_part1) v6=max_pool2d(v5) -> v6"
    )
    assert graph.nodes[3].attrs == StridedCopyAttrs((5 * 5 + 2,), (6, 2), (4, 1), (5, 1), 2)
    assert "edge1" in graph.nodes[3].sources


def test_a_changed_layout_goes_to_its_place_directly():
    d = Drawing()
    x = d.input(1, 3, 2, 5)
    moved = d.node("transpose", x, shape=x.shape, attrs=TransposeAttrs(LAST), layout=LAST)
    graph = d.returns(d.max_pool2d(concat(d, 1, moved, image(d, 1, 4, 2, 5)), 1))
    place_parts(graph)
    (copy, *_) = (node for node in graph.nodes if node.inputs[0] is x)
    assert copy.attrs == StridedCopyAttrs((9 * 7 + 3,), (10, 3), (1, 10), (7, 1))
    assert "transpose" not in [node.op for node in graph.nodes]
