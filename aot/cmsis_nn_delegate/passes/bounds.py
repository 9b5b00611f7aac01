"""Between which integers the activations of a graph lie, whatever its inputs are."""

from __future__ import annotations

from ..graph.ir import Graph, Value
from ..graph.tensor_type import Element
from ..ops import channels
from ..ops.channels import Bounds
from ..ops.registry import OPS


def bounds_of(graph: Graph) -> dict[int, Bounds]:
    """Returns the bounds of all int8 activations, by id."""
    found = {id(value): channels.unbounded(value) for value in graph.inputs if is_int8(value)}
    for node in graph.nodes:
        for output in filter(is_int8, node.outputs):
            found[id(output)] = channels.unbounded(output)
        inputs = [channels.of_constant(v) if v.is_constant else found.get(id(v)) for v in node.inputs]
        known = [bounds for bounds in inputs if bounds is not None]
        if len(known) == len(inputs) and len(node.outputs) == 1 and not node.states and is_int8(node.output):
            found[id(node.output)] = OPS[node.op].bounds(node, known)
    return found


def is_int8(value: Value) -> bool:
    return value.element is Element.INT8
