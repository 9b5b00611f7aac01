"""Makes convolutions of neighbours of those along one axis whose taps lie apart."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, Optional

from ..graph.ir import Graph, Node, Value
from ..ops.attrs import ConvAttrs, Padding
from ..ops.geometry import Pair
from .rewriting import derived, insert_after, insert_before


def rows_of_neighbours(graph: Graph) -> None:
    """A signal of T steps whose taps lie d steps apart is an image of T / d rows of d pixels, in the same memory, whose
    taps lie below each other. So its convolution needs no dilation, with which fewer kernels compute, and those that do
    in more instructions.

    T, what is padded before it, and the number of results have to be multiples of d. What computes a result
    of the graph stays, because a reshape of that is a copy.
    """
    for node in list(graph.nodes):
        if node.op not in ("conv2d", "depthwise_conv2d") or graph.is_output(node.output):
            continue
        found = _rows(node)
        if found is not None:
            _replace(graph, node, found)


class _Rows(NamedTuple):
    attrs: ConvAttrs
    kernel: Pair
    input: Pair  # height, width
    output: Pair


def _rows(node: Node) -> Optional[_Rows]:
    """Returns how `node` is computed by rows; None if it is not."""
    attrs: ConvAttrs = node.attrs
    (source, weight, *_), output = node.inputs, node.output
    kernel = weight.shape[2:]
    axis = 1 if source.shape[2] == 1 else 0
    across = 1 - axis
    sides = (attrs.padding.top, attrs.padding.bottom), (attrs.padding.left, attrs.padding.right)
    distance, (before, _) = attrs.dilation[axis], sides[axis]
    if distance == 1 or attrs.stride != (1, 1) or source.shape[2 + across] != 1 or kernel[across] != 1:
        return None
    if any(sides[across]) or kernel[axis] == 1:
        return None
    steps, results = source.shape[2 + axis], output.shape[2 + axis]
    if any(size % distance for size in (steps, results, before)):
        return None
    top, rows, result_rows = before // distance, steps // distance, results // distance
    padding = Padding(top=top, bottom=result_rows + kernel[axis] - 1 - rows - top)
    return _Rows(
        replace(attrs, dilation=(1, 1), padding=padding),
        (kernel[axis], 1),
        (rows, distance),
        (result_rows, distance),
    )


def _replace(graph: Graph, node: Node, rows: _Rows) -> None:
    source, weight, *others = node.inputs
    output = node.output
    image = _reshaped(source, f"{source.name}_rows_of_{node.name}", rows.input)
    result = _reshaped(output, f"{output.name}_rows", rows.output)
    insert_before(graph, node, derived(node, "reshape", [source], image))
    shape = (*weight.shape[:2], *rows.kernel)
    weight = replace(weight, type=weight.type.of(shape=shape), data=weight.constant.reshape(shape))
    node.inputs, node.attrs = [image, weight, *others], rows.attrs
    node.output = result
    insert_after(graph, node, derived(node, "reshape", [result], output))


def _reshaped(value: Value, name: str, size: Pair) -> Value:
    return Value(name, value.type.of(shape=(*value.shape[:2], *size)))
