"""Settles how operands that are constant or broadcast lie in memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

from ..format.record import Role
from ..graph.ir import Graph, Node, Value
from ..graph.tensor_type import Layout
from ..ops import broadcast, storage
from ..ops.registry import OPS
from .rewriting import replace_input


def lay_out_operands(graph: Graph) -> None:
    """Gives each constant operand of rank 4 the layout of the activations of its reader, and tells each operator that
    can broadcast its operands which shapes they have in memory.

    Weights stay as they are: their operators say how they lie in memory.
    """
    for node in graph.nodes:
        layout = _layout(node)
        for value in _operands(node):
            if value.is_constant and len(value.shape) == 4:
                # A copy, because another reader may want another layout.
                replace_input(node, value, dataclasses.replace(value, type=value.type.of(layout=layout)))
        if hasattr(node.attrs, "shapes"):
            a, b = node.inputs
            node.attrs = dataclasses.replace(node.attrs, shapes=broadcast.shapes_of(a.shape, b.shape, layout))


def _operands(node: Node) -> Iterable[Value]:
    op = OPS[node.op]
    return op.operands(node, Role.INPUT).values() if op.kernels else node.inputs


def _layout(node: Node) -> Layout:
    """Returns the layout of the activations of `node`. Images with one channel or one pixel have both layouts."""
    activations = [value for value in (*node.inputs, *node.outputs) if not value.is_constant]
    if any(storage.effective_layout(value) is Layout.CHANNELS_LAST for value in activations):
        return Layout.CHANNELS_LAST
    return Layout.ROW_MAJOR
