"""Stores weights of 4 bits in 8 where there is no kernel that unpacks them."""

from __future__ import annotations

from dataclasses import replace

from ..format.element import COMMON_ELEMENT
from ..graph.ir import Graph, Node
from ..graph.tensor_type import Element
from ..ops.registry import OPS


def widen_weights(graph: Graph) -> None:
    """Gives the nodes for whose constants of 4 bits there is no kernel the same numbers in 8 bits, and says so in the
    graph's notes."""
    for node in graph.nodes:
        packed = [i for i, value in enumerate(node.inputs) if value.is_constant and value.element is Element.INT4]
        if packed and not _has_kernel(node):
            for index in packed:
                value = node.inputs[index]
                # A value of its own, because a layer that has a kernel may read the same weights.
                node.inputs[index] = replace(value, type=value.type.of(element=COMMON_ELEMENT))
            graph.notes.append(f"{node.name}: its weights of 4 bits take 8, because {node.op} has no kernel for these")


def _has_kernel(node: Node) -> bool:
    try:
        OPS[node.op].kernel_of(node)
    except ValueError:
        return False
    return True
