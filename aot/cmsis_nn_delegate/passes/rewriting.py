"""Small steps shared by several passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..graph.ir import Graph, Node, Value


def only_reader(graph: Graph, value: Value) -> bool:
    """Returns whether exactly one node reads `value`, and the graph does not return it."""
    return len(graph.consumers(value)) == 1 and not graph.is_output(value)


def remove_dead(graph: Graph) -> None:
    """Removes nodes that have no state and whose results nothing reads."""
    needed = {id(value) for value in graph.outputs}
    kept = []
    for node in reversed(graph.nodes):
        if node.states or any(id(value) in needed for value in node.outputs):
            kept.append(node)
            needed.update(id(value) for value in node.inputs)
    graph.nodes = kept[::-1]


def merge_sources(into: Node, gone: Node) -> None:
    """Makes `into` stand for the edge nodes of `gone` too."""
    into.sources = tuple(dict.fromkeys((*into.sources, *gone.sources)))
    into.debug_handles = tuple(dict.fromkeys((*into.debug_handles, *gone.debug_handles)))


def derived(origin: Node, op: str, inputs: Sequence[Value], output: Value, attrs: Any = None) -> Node:
    """Returns a node named after its output that stands for the same edge nodes as `origin`."""
    return Node(op, output.name, list(inputs), [output], attrs, origin.sources, origin.debug_handles)


def insert_before(graph: Graph, node: Node, new: Node) -> None:
    graph.nodes.insert(next(i for i, n in enumerate(graph.nodes) if n is node), new)


def insert_after(graph: Graph, node: Node, new: Node) -> None:
    graph.nodes.insert(next(i for i, n in enumerate(graph.nodes) if n is node) + 1, new)


def replace_input(node: Node, old: Value, new: Value) -> None:
    node.inputs = [new if value is old else value for value in node.inputs]
