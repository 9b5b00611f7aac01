"""Gives clamps that could not be fused a kernel: that of maximum pooling."""

from __future__ import annotations

from ..graph.ir import Graph, Value
from ..graph.tensor_type import Layout
from ..ops.attrs import PoolAttrs
from ..ops.clamp import image_shape
from .rewriting import derived, insert_after, insert_before


def clamps_to_pooling(graph: Graph) -> None:
    """A clamp becomes a maximum over windows of one pixel, whose kernel clamps its output.

    Pooling takes images: other shapes are reshaped to [1, features, pixels, 1] and back.
    """
    for node in [node for node in graph.nodes if node.op == "clamp"]:
        clamp, source, output = node.attrs.clamp, node.inputs[0], node.output
        node.op, node.attrs = "max_pool2d", PoolAttrs((1, 1), (1, 1), clamp=clamp)
        if len(output.shape) == 4:
            continue
        shape = image_shape(output.shape)
        node.inputs = [_like(source, f"{source.name}_image", shape)]
        node.output = _like(output, f"{output.name}_image", shape)
        insert_before(graph, node, derived(node, "reshape", [source], node.inputs[0]))
        insert_after(graph, node, derived(node, "reshape", [node.output], output))


def _like(value: Value, name: str, shape: tuple[int, ...]) -> Value:
    return Value(name, value.type.of(shape=shape, layout=Layout.ROW_MAJOR))
