"""Gives the tensors that a concatenation puts together a place in its output."""

from __future__ import annotations

from typing import Optional

import numpy as np

from ..graph.ir import Graph, Node, Value
from ..graph.tensor_type import Layout
from ..ops import concat, storage
from ..ops.attrs import TransposeAttrs
from ..ops.join import JoinAttrs
from ..ops.loops import Loops, find_loops
from ..ops.strided_copy import MAX_AXES, StridedCopyAttrs
from .rewriting import derived, insert_before, merge_sources, only_reader


def place_parts(graph: Graph) -> None:
    """Turns each concat into a join, of inputs that lie inside of its output.

    An input whose place there is contiguous is computed in it, if it may lie anywhere: it is not also an input or
    output of the graph, a constant, or a part of another value. All others are copied into their places; what is
    a copy already, such as a slice of channels, is copied only there.
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
    merged = _directly(graph, source, join, index)
    if merged is not None:
        before, attrs = merged
        part = Value(name, source.type.of(shape=attrs.shape, layout=Layout.ROW_MAJOR))
        copy = derived(node, "strided_copy", before.inputs, part, attrs)
        merge_sources(copy, before)
        graph.remove([before])
    elif join.rows == 1:
        part = Value(name, source.type)
        copy = derived(node, "transpose", [source], part, TransposeAttrs(source.layout))
    else:
        shape = (join.span(index),)
        part = Value(name, source.type.of(shape=shape, layout=Layout.ROW_MAJOR))
        attrs = StridedCopyAttrs(shape, (join.rows, length), (length, 1), (join.row, 1))
        copy = derived(node, "strided_copy", [source], part, attrs)
    insert_before(graph, node, copy)
    return part


def _directly(graph: Graph, source: Value, join: JoinAttrs, index: int) -> Optional[tuple[Node, StridedCopyAttrs]]:
    """Returns the copy that `source` is the result of, if only the join reads that, and how to copy from its input to
    the place in the join instead; None if the kernel cannot, or there is nothing to save."""
    before = graph.producer(source)
    if before is None or before.op not in ("strided_copy", "transpose") or not only_reader(graph, source):
        return None
    if graph.consumers(source)[0].inputs.count(source) > 1:
        return None
    read = _elements_read(before)
    written = np.arange(join.rows)[:, None] * join.row + np.arange(join.lengths[index])
    # Loops over both at once: their strides are the distances of a number made of both.
    base = 2 * join.rows * join.row
    both = find_loops(read * base + written.reshape(-1))
    if both is None or len(both.sizes) > MAX_AXES:
        return None
    written_strides = tuple((stride + base // 2) % base - base // 2 for stride in both.strides)
    read_strides = tuple((stride - other) // base for stride, other in zip(both.strides, written_strides))
    shape = (join.span(index),)
    return before, StridedCopyAttrs(shape, both.sizes, read_strides, written_strides, int(read[0]))


def _elements_read(copy: Node) -> np.ndarray:
    """Returns, for each element of a copy's output in memory, the element of the input that it is."""
    source, output = copy.inputs[0], copy.output
    if copy.op == "transpose":
        return storage.reordered(np.arange(source.numel), storage.reorder(source, output))
    attrs: StridedCopyAttrs = copy.attrs
    elements = np.empty(output.numel, np.int64)
    written = Loops(attrs.sizes, attrs.output_strides, attrs.output_offset).elements()
    elements[written] = Loops(attrs.sizes, attrs.input_strides, attrs.input_offset).elements()
    return elements
