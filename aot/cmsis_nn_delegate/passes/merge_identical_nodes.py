"""Computes once what several nodes compute."""

from __future__ import annotations

from collections.abc import Hashable

from ..graph.ir import Graph, Node, Value
from .rewriting import merge_sources


def merge_identical_nodes(graph: Graph) -> None:
    """Lets the first of several nodes with the same operator, attributes and inputs stand for all of them, and says so
    in the graph's notes. Outputs of the graph each keep a node of their own."""
    seen: dict[Hashable, Node] = {}
    for node in list(graph.nodes):
        if node.states or any(graph.is_output(value) for value in node.outputs):
            continue
        # Values are compared by identity, attributes by value.
        key = node.op, repr(node.attrs), tuple(map(_input, node.inputs)), tuple(value.type for value in node.outputs)
        first = seen.setdefault(key, node)
        if first is not node:
            for old, new in zip(node.outputs, first.outputs):
                graph.replace_uses(old, new)
            graph.remove([node])
            merge_sources(first, node)
            graph.notes.append(f"{node.name}: the same as {first.name} is computed once")


def _input(value: Value) -> Hashable:
    """What equal inputs have in common: constants are compared by their elements."""
    return (value.type, value.constant.tobytes()) if value.is_constant else id(value)
