"""What readers call the tensors and nodes of a graph: by the modules of their model, not by PyTorch's nodes."""

from __future__ import annotations

import re
from collections.abc import Mapping

from ..graph.ir import Graph
from .buffers import written

_NAME = re.compile(r"(\w+)(\.scratch\b)?")


class Names:
    """The names of `graph`. `modules` are the user's, by the names of edge nodes. An input in another type, which no
    module makes, is "INPUT as TYPE"; other nodes without a module keep their names."""

    def __init__(self, graph: Graph, modules: Mapping[str, str]) -> None:
        self._shown = dict(modules)
        unknown: set[str] = set()
        for node in graph.nodes:
            module = next((modules[source] for source in node.sources if source in modules), None)
            if module is None:
                unknown.update(value.name for value in node.outputs if not graph.is_output(value))
            else:
                self._shown[node.name] = module
        self._shown.update(
            {value.name: name for name, value, _ in written(graph, modules) if value.name not in unknown}
        )
        for node in graph.nodes:
            if node.name in unknown and any(node.inputs[0] is value for value in graph.inputs):
                if node.op in ("quantize", "dequantize"):
                    self._shown[node.name] = f"{node.inputs[0].name} as {node.output.element.value}"

    def in_text(self, text: str) -> str:
        """Returns `text` with the names of this graph as readers know them, and "scratch of X" for "X.scratch"."""
        return _NAME.sub(self._show, text)

    def _show(self, match: re.Match[str]) -> str:
        name = self._shown.get(match[1], match[1])
        return f"scratch of {name}" if match[2] else name
