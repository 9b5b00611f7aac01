"""merge_concats on hand-built graphs."""

from cmsis_nn_delegate.ops.attrs import ConcatAttrs
from cmsis_nn_delegate.passes.merge_concats import merge_concats
from cmsis_nn_delegate.testing.drawing import Drawing, wiring


def concat(d, axis, *values):
    shape = list(values[0].shape)
    shape[axis] = sum(value.shape[axis] for value in values)
    return d.node("concat", *values, shape=shape, attrs=ConcatAttrs(axis))


def test_a_concat_that_only_another_reads_disappears():
    d = Drawing()
    a, b, c = (d.input(2, 4) for _ in range(3))
    graph = d.returns(concat(d, 1, a, concat(d, 1, b, c)))
    merge_concats(graph)
    assert wiring(graph) == "v4=concat(v0,v1,v2) -> v4"
    assert graph.nodes[0].sources == ("edge1", "edge0")


def test_a_dense_block_reads_what_is_put_together_already():
    d = Drawing()
    a, b, c, e = (d.input(2, 4) for _ in range(4))
    values = concat(d, 1, a, b), concat(d, 1, a, b, c), concat(d, 1, e, a, b, c)
    graph = d.returns(*(d.node("softmax", value, shape=value.shape) for value in values))
    merge_concats(graph)
    assert wiring(graph).startswith("v4=concat(v0,v1) v5=concat(v4,v2) v6=concat(v3,v5) ")


def test_other_axes_and_other_readers():
    d = Drawing()
    a, b = d.input(2, 4), d.input(2, 4)
    columns, rows = concat(d, 1, a, b), concat(d, 0, a, b)
    inner = concat(d, 0, a, a)
    graph = d.returns(columns, rows, concat(d, 1, inner, inner))
    before = wiring(graph)
    merge_concats(graph)
    assert wiring(graph) == before
