"""Puts images into the memory order of the kernels."""

from __future__ import annotations

from ..graph.ir import Graph, Node, Value
from ..graph.tensor_type import Layout
from ..ops.attrs import TransposeAttrs
from .rewriting import insert_after, replace_input


def assign_layouts(graph: Graph) -> None:
    """Every integer value of rank 4 becomes channels-last.

    Graph inputs and outputs keep the order that the caller uses. Float ones are reordered
    by their quantize or dequantize; int8 ones get a transpose, unless both orders are the
    same (one channel, or one pixel).
    """
    # Inputs first: a node that returns an input must see the input's own order.
    border = {id(value) for value in (*graph.inputs, *graph.outputs)}
    for node in graph.nodes:
        for value in node.outputs:
            if _is_image(value) and id(value) not in border:
                value.retype(layout=Layout.CHANNELS_LAST)
    for value in graph.inputs:
        if _needs_transpose(value):
            _transpose_input(graph, value)
    for node in list(graph.nodes):
        for value in node.outputs:
            if _needs_transpose(value) and graph.is_output(value):
                _transpose_output(graph, node, value)


def _is_image(value: Value) -> bool:
    return len(value.shape) == 4 and value.element.is_integer


def _needs_transpose(value: Value) -> bool:
    if not _is_image(value) or value.layout is Layout.CHANNELS_LAST:
        return False
    _, c, h, w = value.shape
    return c > 1 and h * w > 1


def _transpose_input(graph: Graph, value: Value) -> None:
    readers = [node for node in graph.consumers(value) if node.op not in ("reshape", "dequantize")]
    if not readers:
        return
    inner = _like(value, f"{value.name}_nhwc", Layout.CHANNELS_LAST)
    for reader in readers:
        replace_input(reader, value, inner)
    origin = readers[0]
    graph.nodes.insert(
        0,
        Node(
            "transpose",
            inner.name,
            [value],
            [inner],
            TransposeAttrs(Layout.CHANNELS_LAST),
            origin.sources[:1],
            origin.debug_handles[:1],
        ),
    )


def _transpose_output(graph: Graph, node: Node, output: Value) -> None:
    if node.op in ("reshape", "quantize") and not graph.consumers(output):
        return  # these write any order
    inner = _like(output, f"{output.name}_nhwc", Layout.CHANNELS_LAST)
    for reader in graph.consumers(output):
        replace_input(reader, output, inner)
    node.replace_output(output, inner)
    transpose = Node(
        "transpose",
        output.name,
        [inner],
        [output],
        TransposeAttrs(output.layout),
        node.sources,
        node.debug_handles,
    )
    insert_after(graph, node, transpose)


def _like(value: Value, name: str, layout: Layout) -> Value:
    return Value(name, value.type.of(layout=layout))
