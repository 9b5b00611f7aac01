"""Which function of the quantized module a kernel call computes."""

from __future__ import annotations

from typing import Optional

from ..edge.functions import name_in
from ..graph.ir import Node
from ..pipeline import Compilation
from ..report.node_report import NodeReport


class CallFunctions:
    """The functions of the calls of a compilation with `keep_modules`, for its first target."""

    def __init__(self, c: Compilation) -> None:
        names = {node.name: name_in(c.converted.graph, node) for node in c.quantized.graph.nodes}
        self._names = names
        self._functions = {
            report.name: (at, names.get(report.function)) for at, report in enumerate(c.partitioner.reports)
        }

    def of_report(self, report: NodeReport) -> Optional[str]:
        """Returns the name in the quantized module of the function that a report is about; None if it is unknown."""
        return self._names.get(report.function)

    def of(self, node: Node) -> Optional[str]:
        """Returns the name in the quantized module of the last function that a node computes, which is the one whose
        result it stores; None if it only rounds or converts."""
        known = [self._functions[source] for source in node.sources if source in self._functions]
        computing = [(at, name) for at, name in known if name and not _is_rounding(name)]
        return max(computing)[1] if computing else None


def _is_rounding(name: str) -> bool:
    return name.startswith(("quantize_per_", "dequantize_per_"))
