"""Leaves values where they are instead of copying them."""

from __future__ import annotations

from typing import Optional

from ..graph.ir import Graph, Node
from ..ops import storage
from ..ops.part import PartAttrs
from ..ops.strided_copy import StridedCopyAttrs
from .rewriting import merge_sources


def copies_to_parts(graph: Graph) -> None:
    """Turns each copy of bytes that lie together in its input, such as a slice of rows, into a part of the input.

    Outputs of the graph are copies, because they have memory of their own.
    """
    for node in graph.nodes:
        offset = _offset(node)
        if offset is None or node.inputs[0].is_constant or graph.is_output(node.output):
            continue
        node.op, node.attrs = "part", PartAttrs(offset)
        for reader in graph.consumers(node.output):
            merge_sources(reader, node)


def _offset(node: Node) -> Optional[int]:
    """Returns the element at which what `node` copies, in its order, begins; None if that does not lie together."""
    if node.op == "transpose":
        _, rows, columns = storage.reorder(node.inputs[0], node.output)
        return 0 if 1 in (rows, columns) else None
    if node.op != "strided_copy":
        return None
    attrs: StridedCopyAttrs = node.attrs
    expected = 1
    for size, read, written in reversed(list(zip(attrs.sizes, attrs.input_strides, attrs.output_strides))):
        if size > 1 and (read, written) != (expected, expected):
            return None
        expected *= size
    return attrs.input_offset if (expected, attrs.output_offset) == (node.output.numel, 0) else None
