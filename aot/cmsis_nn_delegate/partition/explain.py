"""Says for every node of an edge program whether it is delegated, and if not, why not. A function that
ExecuTorch decomposed is reported once, under its own name, if none of its parts is delegated.

for line in explain(edge_program):
    print(line)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional

from torch.export import ExportedProgram
from torch.fx import Node

from ..edge.functions import Function, Functions
from ..edge.naming import module_of, source_of
from ..edge.nodes import GETITEM, target_name
from ..edge.refusal import Reason, Refusal
from ..ops.registry import OPS
from ..report.node_report import NodeReport
from .no_kernel import no_kernel
from .portable import called, missing_kernel, without_kernel
from .support import Support


def explain(program: ExportedProgram) -> list[NodeReport]:
    """Returns the reports of an edge program, in execution order. They leave out constants, which go with the
    operators that read them, and results of delegates."""
    return report(program, Support(program))


def report(
    program: ExportedProgram,
    support: Support,
    functions: Optional[Functions] = None,
    given_back: Optional[Mapping[Function, Refusal]] = None,
) -> list[NodeReport]:
    """Like `explain`, with a decision that was made before. `functions` are those of the program before it was
    decomposed, and `given_back` those that were refused and then replaced by operators of PyTorch."""
    calls = [node for node in program.graph.nodes if node.op == "call_function"]
    parts: dict[Function, list[Node]] = {}
    for node in calls:
        function = functions and functions.of(node)
        if function and target_name(node) != GETITEM and (node in support.partitions or node in support.refusals):
            parts.setdefault(function, []).append(node)
    # Reported as the function that the user has written.
    whole = {
        node: function
        for function, nodes in parts.items()
        for node in nodes
        if not any(n in support.partitions for n in nodes) and (len(nodes) > 1 or _renamed(nodes[0], support))
    }
    reports, told = [], set()
    for node in calls:
        if node in support.partitions and support.op(node):
            reports.append(_node_report(node, functions, partition=support.partitions[node]))
        elif node in whole:
            if whole[node] not in told:
                before = (given_back or {}).get(whole[node])
                reports.append(_function_report(whole[node], parts[whole[node]], support, before))
                told.add(whole[node])
        elif node in support.refusals:
            refusal = support.refusals[node]
            missing = missing_kernel(node.target)
            reports.append(
                _node_report(
                    node,
                    functions,
                    partition=None,
                    reason=refusal.reason,
                    message=refusal.message,
                    missing_kernels=(missing,) if missing else (),
                )
            )
    return reports


def _node_report(node: Node, functions: Optional[Functions], **decision: Any) -> NodeReport:
    """Returns the report of one node. A node of unknown origin is its own function."""
    function = functions.of(node) if functions else None
    if function is None:
        function = Function(node.name, target_name(node), module_of(node), source_of(node))
    return NodeReport(
        name=node.name,
        target=target_name(node),
        module=module_of(node),
        function=function.name,
        function_target=function.target,
        source=function.source,
        **decision,
    )


def _renamed(node: Node, support: Support) -> bool:
    """Returns whether the user's name for `node` is more useful: it is, if neither name is that of a known operator."""
    return support.refusals[node].reason is Reason.UNSUPPORTED_OPERATOR


def _function_report(function: Function, nodes: list[Node], support: Support, before: Optional[Refusal]) -> NodeReport:
    """Returns one report for all parts of a function. `before` is why it was replaced by them."""
    missing = tuple(sorted({m for m in (missing_kernel(node.target) for node in nodes) if m}))
    # Then its parts have kernels: those of stack, for example.
    able = all(support.refusals[node].reason in (Reason.LEFT_IN_FLOAT, Reason.NOT_FUSABLE) for node in nodes)
    if before is not None:
        refusal = before
    elif able or any(function.target in op.targets for op in OPS.values()):
        refusal = min((support.refusals[node] for node in nodes), key=_vagueness)
        if refusal.reason is Reason.UNSUPPORTED_OPERATOR:
            # It is the function that has a kernel, not its parts.
            refusal = support.refusal_before(nodes[0]) or refusal
    else:
        message = no_kernel(function.target, ", ".join(missing))
        refusal = Refusal(Reason.UNSUPPORTED_OPERATOR, message)
    return NodeReport(
        name=function.name,
        target=function.target,
        partition=None,
        reason=refusal.reason,
        message=refusal.message,
        module=function.module,
        function=function.name,
        function_target=function.target,
        source=function.source,
        missing_kernels=missing,
    )


def _vagueness(refusal: Refusal) -> int:
    """Returns a larger number for reasons that only follow from those of other parts."""
    vague = (Reason.UNSUPPORTED_OPERATOR, Reason.NOT_QUANTIZED, Reason.NOT_FUSABLE)
    return vague.index(refusal.reason) + 1 if refusal.reason in vague else 0


def unloadable(program: Any, reports: Sequence[NodeReport]) -> list[str]:
    """Returns warnings about operators that have no kernel at all, which prevent a lowered program
    (`executorch_program`) from being loaded."""
    told = [
        f"{report.name} ({report.target}){f' in {report.module}' if report.module else ''} needs "
        f"{', '.join(report.missing_kernels)}, which ExecuTorch's portable kernels lack: the program cannot "
        "be loaded unless you link a kernel of your own"
        for report in reports
        if report.missing_kernels
    ]
    for name in without_kernel(called(program)):
        if not any(name in warning for warning in told):
            told.append(
                f"the program needs {name}, which ExecuTorch's portable kernels lack: it cannot be loaded "
                "unless you link a kernel of your own"
            )
    return told
