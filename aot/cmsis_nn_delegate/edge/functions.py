"""Which function of the exported program an edge node comes from.

ExecuTorch decomposes many functions before it calls a partitioner: an LSTM becomes dozens of nodes. torch records in
`meta["from_node"]` where each node came from, so that the function can be reported once, under its own name.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Optional

from torch.export import ExportedProgram
from torch.fx import Graph, Node

from .naming import SourceLine, module_of, source_of
from .nodes import target_name


@dataclass(frozen=True)
class Function:
    """A call of the exported program: "softshrink", "aten.softshrink.default", "3 (Softshrink)"."""

    name: str
    target: str
    module: str
    source: Optional[SourceLine] = None


class Functions:
    """The calls of exported ATen programs that have not been decomposed yet, one for each method."""

    def __init__(self, programs: Iterable[ExportedProgram] = ()) -> None:
        self._calls: dict[Graph, dict[str, Function]] = {}  # keeps graphs alive, so that no other gets the id of one
        for program in programs:
            self.add(program)

    def add(self, program: ExportedProgram) -> None:
        self._calls[program.graph] = {
            node.name: Function(node.name, target_name(node), module_of(node), source_of(node))
            for node in program.graph.nodes
            if node.op == "call_function"
        }

    def of(self, node: Node) -> Optional[Function]:
        """Returns the function that edge node `node` is or was decomposed from; None if unknown."""
        for graph, calls in self._calls.items():
            name = name_in(graph, node)
            if name is not None:
                return calls.get(name)
        return None


def name_in(graph: Graph, node: Node) -> Optional[str]:
    """Returns the name that the origin of `node` had in `graph`, before ExecuTorch transformed it; None if unknown."""
    source = _source_in(graph, node)
    return None if source is None else str(source.name)


def forget_before(graph: Graph, copy: Graph) -> None:
    """Shortens the origins of the nodes of `copy`, which PyTorch made from `graph`: they end in `graph`.

    Each pass copies all of them and adds one. Those of a quantized program are long already.
    """
    for node in copy.nodes:
        source = _source_in(graph, node)
        if source is not None:
            source.from_node = []
            node.meta["from_node"] = [source]


def _source_in(graph: Graph, node: Node) -> Optional[Any]:
    return next((s for s in _chain(node.meta.get("from_node")) if getattr(s, "graph_id", None) == id(graph)), None)


def _chain(sources: Any) -> Iterator[Any]:
    for source in sources or ():
        yield source
        yield from _chain(getattr(source, "from_node", None))
