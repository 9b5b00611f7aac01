"""Removes reshapes: most move no data, and most of the others need not."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from ..graph.ir import DType, Graph, Layout, Node, Value
from ..ops import storage
from ..ops.attrs import SoftmaxAttrs, TransposeAttrs
from .rewriting import derived, insert_before, merge_sources, remove_dead, replace_input

# Read their input as a sequence of elements or rows; its shape says nothing to them.
_SHAPELESS_READERS = ("fully_connected", "add", "dequantize")
# Write their output as a sequence of elements or rows.
_SHAPELESS_PRODUCERS = ("fully_connected", "add", "quantize")


def absorb_reshapes(graph: Graph) -> None:
    """Replaces each reshape by the first of these that applies:

    1. nothing, where its reader takes the reshape's input as it lies in memory
       (a dequantize to row-major floats even if the order changes);
    2. other columns in the weights of the linear layers that read it, where it would
       move data (flattening a channels-last image);
    3. its output instead of its input as the result of the producer;
    4. a transpose, which is a copy where only the name of the shape changes.
    """
    _join(graph)
    for node in [node for node in graph.nodes if node.op == "reshape"]:
        for reader in list(graph.consumers(node.output)):
            _read_input_instead(node, reader)
        if graph.consumers(node.output) or graph.is_output(node.output):
            _retype_producer(graph, node) or _materialize(graph, node)
    remove_dead(graph)


def _join(graph: Graph) -> None:
    """Reshape of reshape becomes a reshape of the first one's input."""
    for node in graph.nodes:
        if node.op == "reshape":
            before = graph.producer(node.inputs[0])
            if before is not None and before.op == "reshape":
                node.inputs = list(before.inputs)


def memory_order(value: Value) -> np.ndarray:
    """For each element in memory, its logical row-major index."""
    index = np.arange(value.numel).reshape(value.shape)
    return storage.to_storage(index, value).reshape(-1)


def moves(node: Node) -> bool:
    """Whether input and output of a reshape have their elements in different order."""
    source, output = node.inputs[0], node.output
    if storage.effective_layout(source) is storage.effective_layout(output) is Layout.ROW_MAJOR:
        return False
    return not np.array_equal(memory_order(source), memory_order(output))


def _read_input_instead(node: Node, reader: Node) -> None:
    """Makes `reader` of the reshape read the reshape's input, if it can."""
    source, output = node.inputs[0], node.output
    if reader.op == "dequantize":
        # To row-major floats it brings back the order itself.
        if moves(node) and storage.effective_layout(reader.output) is not Layout.ROW_MAJOR:
            return
    elif reader.op == "fully_connected":
        if moves(node) and not _permute_columns(node, reader):
            return
    elif moves(node):
        return
    elif reader.op == "softmax":
        dim = _row_dim(source, output.shape[reader.attrs.dim])
        if dim is None:
            return
        reader.attrs = SoftmaxAttrs(dim)
    elif reader.op not in _SHAPELESS_READERS and source.shape != output.shape:
        return
    replace_input(reader, output, source)
    merge_sources(reader, node)


def _row_dim(value: Value, row_size: int):
    """The dimension of `value` that is innermost in memory, if it has `row_size` elements."""
    if storage.effective_layout(value) is Layout.CHANNELS_LAST:
        dim = 1
    else:
        # The last dimension that is not trivial.
        dims = [d for d, size in enumerate(value.shape) if size > 1]
        dim = dims[-1] if dims else len(value.shape) - 1
    return dim if value.shape and value.shape[dim] == row_size else None


def _permute_columns(node: Node, reader: Node) -> bool:
    """Gives the linear layer `reader` the columns in the order of the unflattened image."""
    source = node.inputs[0]
    weight = reader.inputs[1]
    columns = weight.shape[1]
    image = math.prod(source.shape[1:])
    if columns != image or node.output.numel != source.shape[0] * image:
        return False
    order = memory_order(dataclasses.replace(source, shape=(1, *source.shape[1:])))
    data = np.ascontiguousarray(weight.data[:, order])
    # Its own copy: another layer may read the same weights in another order.
    reader.inputs[1] = dataclasses.replace(weight, name=f"{weight.name}_nhwc", data=data)
    return True


def _retype_producer(graph: Graph, node: Node) -> bool:
    """Makes the producer write the reshape's output, if it may have that shape."""
    source, output = node.inputs[0], node.output
    producer = graph.producer(source)
    if producer is None or graph.is_output(source):
        return False
    if [reader for reader in graph.consumers(source) if reader is not node]:
        return False
    if producer.op == "quantize":
        # From row-major floats it gets to any order, from channels-last ones only to the same.
        floats = producer.inputs[0]
        if moves(node) and storage.effective_layout(floats) is not Layout.ROW_MAJOR:
            return False
    elif moves(node):
        return False
    elif producer.op not in _SHAPELESS_PRODUCERS and source.shape != output.shape:
        return False
    producer.output = output
    merge_sources(producer, node)
    graph.remove([node])
    return True


def _materialize(graph: Graph, node: Node) -> None:
    """Turns the reshape into the transpose, or the two, that really move the data."""
    source, output = node.inputs[0], node.output
    if moves(node) and Layout.ROW_MAJOR not in (
        storage.effective_layout(source),
        storage.effective_layout(output),
    ):
        row_major = Value(f"{source.name}_nchw", source.shape, DType.INT8, source.quant)
        insert_before(
            graph,
            node,
            derived(node, "transpose", [source], row_major, TransposeAttrs(Layout.ROW_MAJOR)),
        )
        node.inputs = [row_major]
    node.op, node.attrs = "transpose", TransposeAttrs(output.layout)
