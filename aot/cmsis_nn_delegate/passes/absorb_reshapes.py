"""Removes reshapes: most move no data, and most of the others can be avoided."""

from __future__ import annotations

from ..graph.ir import Graph, Node, Value
from ..graph.tensor_type import Layout
from ..ops import storage
from ..ops.attrs import TransposeAttrs
from ..ops.registry import OPS
from .rewriting import derived, insert_before, merge_sources, remove_dead, replace_input


def absorb_reshapes(graph: Graph) -> None:
    """Replaces each reshape by the first of these that applies:

    1. nothing, if its reader can take the reshape's input as it lies in memory
       (a dequantize to row-major floats can even if the order changes);
    2. a new order of the weight columns in the linear layers that read it, if the
       reshape would move data (flattening a channels-last image);
    3. the reshape's output as the result of the producer, in place of the reshape's input;
    4. a transpose, which is a copy if only the shape changes.
    """
    _join(graph)
    for node in [node for node in graph.nodes if node.op == "reshape"]:
        for reader in list(graph.consumers(node.output)):
            _read_input_instead(node, reader)
        if graph.consumers(node.output) or graph.is_output(node.output):
            if not _retype_producer(graph, node):
                _materialize(graph, node)
    remove_dead(graph)


def _join(graph: Graph) -> None:
    """Reshape of reshape becomes a reshape of the first one's input."""
    for node in graph.nodes:
        if node.op == "reshape":
            before = graph.producer(node.inputs[0])
            if before is not None and before.op == "reshape":
                node.inputs = list(before.inputs)


def _read_input_instead(node: Node, reader: Node) -> None:
    """Makes `reader` of the reshape read the reshape's input, if it can."""
    if OPS[reader.op].read_reshaped(reader, node):
        replace_input(reader, node.output, node.inputs[0])
        merge_sources(reader, node)


def _retype_producer(graph: Graph, node: Node) -> bool:
    """Makes the producer write the reshape's output, if it may have that shape."""
    source, output = node.inputs[0], node.output
    producer = graph.producer(source)
    if producer is None or len(producer.outputs) != 1 or graph.is_output(source):
        return False
    if [reader for reader in graph.consumers(source) if reader is not node]:
        return False
    if not OPS[producer.op].write_reshaped(producer, node):
        return False
    producer.replace_output(source, output)
    merge_sources(producer, node)
    graph.remove([node])
    return True


def _materialize(graph: Graph, node: Node) -> None:
    """Turns the reshape into the one or two transposes that move the data."""
    source, output = node.inputs[0], node.output
    if storage.moves(source, output) and Layout.ROW_MAJOR not in (
        storage.effective_layout(source),
        storage.effective_layout(output),
    ):
        row_major = Value(f"{source.name}_nchw", source.type.of(layout=Layout.ROW_MAJOR))
        insert_before(
            graph,
            node,
            derived(node, "transpose", [source], row_major, TransposeAttrs(Layout.ROW_MAJOR)),
        )
        node.inputs = [row_major]
    node.op, node.attrs = "transpose", TransposeAttrs(output.layout)
