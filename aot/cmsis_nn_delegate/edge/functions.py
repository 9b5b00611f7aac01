"""Which function of the exported program an edge node comes from.

ExecuTorch takes many functions apart before it asks a partitioner: hardswish becomes six nodes, an LSTM
dozens. torch keeps for every node where it came from, in `meta["from_node"]`; so the function can be
reported under its own name, once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Optional

from torch.export import ExportedProgram
from torch.fx import Graph, Node

from .naming import module_of
from .nodes import target_name


@dataclass(frozen=True)
class Function:
    """A call of the exported program: "hardswish", "aten.hardswish.default", "3 (Hardswish)"."""

    name: str
    target: str
    module: str


class Functions:
    """The calls of `program`, an exported program in ATen that was not yet decomposed."""

    def __init__(self, program: ExportedProgram) -> None:
        self._graph = program.graph  # held, so that no other graph has its id
        self._calls = {
            node.name: Function(node.name, target_name(node), module_of(node))
            for node in program.graph.nodes
            if node.op == "call_function"
        }

    def of(self, node: Node) -> Optional[Function]:
        """The function that edge node `node` was decomposed from, or that it is; None if unknown."""
        name = name_in(self._graph, node)
        return None if name is None else self._calls.get(name)


def name_in(graph: Graph, node: Node) -> Optional[str]:
    """The name of what `node` comes from in `graph`, which ExecuTorch has transformed since; None if unknown."""
    for source in _chain(node.meta.get("from_node")):
        if getattr(source, "graph_id", None) == id(graph):
            name: str = source.name
            return name
    return None


def _chain(sources: Any) -> Iterator[Any]:
    for source in sources or ():
        yield source
        yield from _chain(getattr(source, "from_node", None))
