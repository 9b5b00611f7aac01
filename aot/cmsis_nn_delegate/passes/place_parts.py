"""Gives the tensors that a concatenation puts together a place in its output."""

from __future__ import annotations

from ..graph.ir import Graph, Node, Value
from ..graph.tensor_type import Layout
from ..ops import concat
from ..ops.attrs import TransposeAttrs
from ..ops.join import JoinAttrs
from ..ops.strided_copy import StridedCopyAttrs
from .rewriting import derived, insert_before, merge_sources


def place_parts(graph: Graph) -> None:
    """Turns each concat into a join, of inputs that lie inside of its output.

    An input whose place there is contiguous is computed in it, if it may lie anywhere: it is not also an input or
    output of the graph, a constant, or a part of another value. All others are copied into their places.
    """
    placed: set[int] = set()
    for node in list(graph.nodes):
        if node.op == "concat":
            _place(graph, node, placed)


def _place(graph: Graph, node: Node, placed: set[int]) -> None:
    rows = concat.rows(node)
    join = JoinAttrs(rows, tuple(value.numel // rows for value in node.inputs))
    for index, value in enumerate(node.inputs):
        if rows > 1 or id(value) in placed or not _may_lie_anywhere(graph, value):
            node.inputs[index] = _copy(graph, node, join, index)
        placed.add(id(node.inputs[index]))
        producer = graph.producer(node.inputs[index])
        if producer is not None:
            merge_sources(producer, node)
    node.op, node.attrs = "join", join


def _may_lie_anywhere(graph: Graph, value: Value) -> bool:
    producer = graph.producer(value)
    return producer is not None and producer.op != "part" and not graph.is_output(value)


def _copy(graph: Graph, node: Node, join: JoinAttrs, index: int) -> Value:
    """Returns a copy of input `index` of `node` for its place in the output."""
    source, length = node.inputs[index], join.lengths[index]
    name = f"{node.name}_part{index}"
    if join.rows == 1:
        part = Value(name, source.type)
        copy = derived(node, "transpose", [source], part, TransposeAttrs(source.layout))
    else:
        shape = (join.span(index),)
        part = Value(name, source.type.of(shape=shape, layout=Layout.ROW_MAJOR))
        attrs = StridedCopyAttrs(shape, (join.rows, length), (length, 1), (join.row, 1))
        copy = derived(node, "strided_copy", [source], part, attrs)
    insert_before(graph, node, copy)
    return part
