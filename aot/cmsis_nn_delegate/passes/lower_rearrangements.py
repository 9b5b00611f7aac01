"""Turns rearrangements into copies between the memory orders of their input and output."""

from __future__ import annotations

from typing import Optional

from ..graph.ir import Graph, Node, Value
from ..graph.tensor_type import Layout
from ..ops import storage
from ..ops.attrs import TransposeAttrs
from ..ops.layouts import Layouts
from ..ops.loops import Loops, row_major_strides
from ..ops.rearrange import in_memory
from ..ops.registry import OPS
from ..ops.strided_copy import StridedCopyAttrs
from .rewriting import derived, insert_before, merge_sources, only_reader, replace_input


def lower_rearrangements(graph: Graph) -> None:
    """Replaces each rearrange by the first of these that applies:

    1. nothing, if it keeps the order in memory, and its readers can take its input, or its producer can write its
       output;
    2. a strided copy;
    3. a strided copy to or from a row-major tensor, with a transpose before or after it.
    """
    for node in [node for node in graph.nodes if node.op == "rearrange"]:
        loops = _in_memory(node)
        if loops is not None and loops.is_all_in_order(node.inputs[0].numel) and _vanishes(graph, node):
            continue
        if loops is None:
            _through_row_major(graph, node)
            loops = _in_memory(node)
        if loops is None:
            raise ValueError(f"{node.name} moves {node.inputs[0].name} in an order that no loops give")
        # It writes the elements one after the other.
        output_strides = row_major_strides(loops.sizes)
        node.op = "strided_copy"
        node.attrs = StridedCopyAttrs(node.output.shape, loops.sizes, loops.strides, output_strides, loops.offset)


def _in_memory(node: Node) -> Optional[Loops]:
    return in_memory(node.attrs.loops, node.inputs[0].type, node.output.type)


def _vanishes(graph: Graph, node: Node) -> bool:
    """Removes a rearrange whose input and output are the same bytes, if that is possible. Readers that take elements or
    rows as they lie in memory can read the input, and producers that give them so can write the output."""
    source, output = node.inputs[0], node.output
    readers = graph.consumers(output)
    if not graph.is_output(output):
        if all(OPS[reader.op].shapeless_input and _as_they_lie(reader, source, output) for reader in readers):
            for reader in readers:
                replace_input(reader, output, source)
                merge_sources(reader, node)
            graph.remove([node])
            return True
    producer = graph.producer(source)
    if producer is None or len(producer.outputs) != 1 or not only_reader(graph, source):
        return False
    if not OPS[producer.op].shapeless_output or not _as_they_lie(producer, source, output):
        return False
    producer.replace_output(source, output)
    merge_sources(producer, node)
    graph.remove([node])
    return True


def _as_they_lie(neighbour: Node, source: Value, output: Value) -> bool:
    """Whether `neighbour` treats both values alike: what takes any layout moves elements where layouts differ."""
    same = storage.effective_layout(source) is storage.effective_layout(output)
    return same or OPS[neighbour.op].layouts_of(neighbour) is not Layouts.ANY


def _through_row_major(graph: Graph, node: Node) -> None:
    """Gives `node` a row-major input and output, with rearrangements before and after it that change the layout.

    Between row-major tensors the loops are those of its attributes, which the kernel can walk."""
    source, output = node.inputs[0], node.output
    if storage.effective_layout(source) is Layout.CHANNELS_LAST:
        inner = Value(f"{source.name}_nchw", source.type.of(layout=Layout.ROW_MAJOR))
        insert_before(graph, node, _changed_layout(node, source, inner))
        node.inputs = [inner]
    if storage.effective_layout(output) is Layout.CHANNELS_LAST and _in_memory(node) is None:
        inner = Value(f"{output.name}_nchw", output.type.of(layout=Layout.ROW_MAJOR))
        node.output = inner
        graph.nodes.insert(graph.nodes.index(node) + 1, _changed_layout(node, inner, output))


def _changed_layout(node: Node, source: Value, output: Value) -> Node:
    """Returns the transpose that stores `source` in the layout of `output`."""

    return derived(node, "transpose", [source], output, TransposeAttrs(output.layout))
