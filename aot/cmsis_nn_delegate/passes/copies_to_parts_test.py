"""copies_to_parts on hand-built graphs."""

import math

from cmsis_nn_delegate.graph.tensor_type import Layout
from cmsis_nn_delegate.ops.attrs import ConcatAttrs, TransposeAttrs
from cmsis_nn_delegate.ops.part import PartAttrs
from cmsis_nn_delegate.ops.strided_copy import StridedCopyAttrs
from cmsis_nn_delegate.passes.copies_to_parts import copies_to_parts
from cmsis_nn_delegate.passes.place_parts import place_parts
from cmsis_nn_delegate.testing.drawing import Drawing, wiring


def copy(d, x, shape, sizes, strides, offset=0):
    written = tuple(math.prod(sizes[axis + 1 :]) for axis in range(len(sizes)))
    return d.node("strided_copy", x, shape=shape, attrs=StridedCopyAttrs(shape, sizes, strides, written, offset))


def test_rows_that_lie_together_stay_where_they_are():
    d = Drawing()
    x = d.input(4, 6)
    rows = copy(d, x, (2, 6), (2, 6), (6, 1), 6)
    columns = copy(d, x, (4, 2), (4, 2), (6, 1), 3)
    every_other = copy(d, x, (2, 6), (2, 6), (12, 1))
    backwards = copy(d, x, (6,), (6,), (-1,), 5)
    graph = d.returns(*(d.node("softmax", y, shape=y.shape) for y in (rows, columns, every_other, backwards)))
    copies_to_parts(graph)
    assert [node.op for node in graph.nodes[:4]] == ["part", "strided_copy", "strided_copy", "strided_copy"]
    assert graph.nodes[0].attrs == PartAttrs(6)
    assert "edge0" in graph.nodes[4].sources


def test_copies_that_only_change_the_shape():
    d = Drawing()
    x = d.input(1, 4, 2, 2)
    same = d.node("transpose", x, shape=(16,), attrs=TransposeAttrs(Layout.ROW_MAJOR))
    moved = d.node(
        "transpose", x, shape=x.shape, attrs=TransposeAttrs(Layout.CHANNELS_LAST), layout=Layout.CHANNELS_LAST
    )
    graph = d.returns(*(d.node("softmax", y, shape=y.shape) for y in (same, moved)))
    copies_to_parts(graph)
    assert [node.op for node in graph.nodes[:2]] == ["part", "transpose"]


def test_what_the_graph_returns_is_copied():
    d = Drawing()
    graph = d.returns(copy(d, d.input(4, 6), (2, 6), (2, 6), (6, 1)))
    copies_to_parts(graph)
    assert graph.nodes[0].op == "strided_copy"


def test_a_part_is_copied_to_its_place_in_another_value():
    d = Drawing()
    x, y = (d.node("softmax", d.input(1, 4), shape=(1, 4)) for _ in range(2))
    part = copy(d, x, (1, 2), (2,), (1,), 1)
    graph = d.returns(d.node("concat", part, y, shape=(1, 6), attrs=ConcatAttrs(1)))
    copies_to_parts(graph)
    place_parts(graph)
    assert wiring(graph).endswith("v4=part(v1) v5_part0=transpose(v4) v5=join(v5_part0,v3) -> v5")
