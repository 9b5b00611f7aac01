"""Removes annotations that are not worth a delegate call: those of islands without arithmetic.

A relu or a flatten between two float layers could be delegated, but would have to be quantized for it, which
costs time, a call and accuracy, and saves nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torch
from torch.fx import GraphModule, Node
from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

_WRITE = torch.ops.aten.copy_.default


def drop_workless(model: GraphModule, works: Callable[[Node], bool]) -> None:
    """Removes the annotations of islands, annotated nodes that read each other, of which no node `works`.

    Unless everything in `model` is annotated: then there is nothing in float beside which they would
    be a burden, and the whole model can be one delegate call.
    """
    calls = [node for node in model.graph.nodes if node.op == "call_function"]
    annotated = [node for node in calls if Q_ANNOTATION_KEY in node.meta]
    if len(annotated) == len(calls):
        return
    for island in _islands(annotated):
        if not any(map(works, island)):
            for node in island:
                del node.meta[Q_ANNOTATION_KEY]


def _islands(nodes: list[Node]) -> list[list[Node]]:
    """Returns groups of nodes that are connected by reading each other, or what the other one wrote to a state."""
    inside, seen, islands = set(nodes), set(), []
    for start in nodes:
        if start in seen:
            continue
        seen.add(start)
        island, rest = [], [start]
        while rest:
            node = rest.pop()
            island.append(node)
            for other in (*node.all_input_nodes, *node.users, *_by_states(node)):
                if other in inside and other not in seen:
                    seen.add(other)
                    rest.append(other)
        islands.append(island)
    return islands


def _by_states(node: Node) -> Iterator[Node]:
    """Yields the nodes that read a state that `node` is written to, and those that are written to one that it reads."""
    for user in node.users:
        if user.target is _WRITE and user.args[1] is node:
            state: Any = user.args[0]
            yield from state.users
    for source in node.all_input_nodes:
        for user in source.users:
            if user.target is _WRITE and user.args[0] is source:
                value: Any = user.args[1]
                yield value
