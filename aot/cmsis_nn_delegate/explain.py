"""Says for every node of an edge program whether it is delegated, and if not, why not.

for line in explain(edge_program):
    print(line)
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Optional

from torch.export import ExportedProgram
from torch.fx import Node

from .edge import target_name
from .ops.op import Reason
from .support import Support


@dataclass(frozen=True)
class NodeReport:
    """One call of an edge program. `partition` is None where `reason` and `message` are set."""

    name: str
    target: str
    partition: Optional[int]
    reason: Optional[Reason] = None
    message: str = ""
    # The module that the node comes from, "" if unknown: "layers.0 (Conv2d)".
    module: str = ""

    @property
    def delegated(self) -> bool:
        return self.partition is not None

    def __str__(self) -> str:
        where = f" in {self.module}" if self.module else ""
        head = f"{self.name} ({self.target}){where}: "
        if self.delegated:
            return f"{head}delegated to partition {self.partition}"
        return f"{head}not delegated, {self.reason.value}: {self.message}"


def explain(program: ExportedProgram) -> list[NodeReport]:
    """The reports of an edge program, in execution order. Constants, which follow the operators
    that read them, and results of delegates are left out."""
    return report(program, Support(program))


def report(program: ExportedProgram, support: Support) -> list[NodeReport]:
    """`explain` with a decision that was made before."""
    reports = []
    for node in program.graph.nodes:
        if node.op != "call_function":
            continue
        common = {"name": node.name, "target": target_name(node), "module": _module(node)}
        if node in support.partitions:
            reports.append(NodeReport(partition=support.partitions[node], **common))
        elif node in support.refusals:
            refusal = support.refusals[node]
            reports.append(
                NodeReport(partition=None, reason=refusal.reason, message=refusal.message, **common)
            )
    return reports


def _module(node: Node) -> str:
    stack = node.meta.get("nn_module_stack") or {}
    for path, kind in reversed(list(stack.values())):
        name = kind if isinstance(kind, str) else getattr(kind, "__name__", str(kind))
        if path:
            return f"{path} ({name.rsplit('.', 1)[-1]})"
    return ""
