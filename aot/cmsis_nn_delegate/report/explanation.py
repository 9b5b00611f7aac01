"""What becomes of each function of the user's model, as text and as JSON: `explain`. Needs no PyTorch.

Functions have the names that the user knows: the module, the line of code, and the function in PyTorch. What quantizes
and dequantizes between them belongs to them.
"""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional, Protocol

from ..targets.target import Target
from .delegated_work import Work
from .node_report import NodeReport

# The version of the JSON's structure.
SCHEMA = 1


@dataclass(frozen=True)
class Placement:
    """A call of the delegate: the number of the partition, that of the call in its payload, the kernel's name, and the
    name of the provider."""

    partition: int
    call: int
    kernel: str
    provider: str


class Decided(Protocol):
    """What is read of a compiled model; `compiled.Compiled` describes the members."""

    @property
    def name(self) -> str: ...
    @property
    def target(self) -> Target: ...
    @property
    def quantizer(self) -> str: ...
    @property
    def obstacle(self) -> str: ...
    @property
    def work(self) -> Work: ...
    @property
    def reports(self) -> Sequence[NodeReport]: ...
    @property
    def placements(self) -> Mapping[str, Placement]: ...
    @property
    def warnings(self) -> Sequence[str]: ...


SEVERITIES = ("ok", "warning", "error")


@dataclass(frozen=True)
class Explanation:
    """What becomes of one function. `severity` is "ok" if it is delegated, "warning" if it runs in float outside of the
    delegate, "error" if no kernel exists there, so that the program cannot be loaded."""

    module: str  # "layers.0 (Conv2d)", "" for the model itself
    source: str  # "model.py:12", "" if unknown
    code: str  # that line
    function: str  # in PyTorch: "aten.conv2d.default"
    severity: str
    partition: Optional[int]
    calls: tuple[Placement, ...]  # none if it only renames values
    reason: str = ""  # of `edge.refusal.Reason`
    message: str = ""  # why it is not delegated, and what to do

    def __post_init__(self) -> None:
        if self.severity not in SEVERITIES:
            raise ValueError(f"severity is {self.severity!r}; it must be one of {', '.join(SEVERITIES)}")


def modules_of(reports: Sequence[NodeReport]) -> dict[str, str]:
    """Returns the user's module, "layers.0 (Conv2d)", by the name of each delegated edge node that has one, in
    execution order."""
    return {report.name: report.module for report in reports if report.delegated and report.module}


def explain(compiled: Decided) -> list[Explanation]:
    """Returns one explanation for each function, in execution order."""
    functions: dict[str, list[NodeReport]] = {}
    for report in compiled.reports:
        if not report.is_border:
            functions.setdefault(report.function, []).append(report)
    return [_explanation(parts, compiled) for parts in functions.values()]


def _explanation(parts: Sequence[NodeReport], compiled: Decided) -> Explanation:
    # A function of which a part is refused is explained by that part.
    first = next((part for part in parts if not part.delegated), parts[0])
    calls = {p: None for part in parts if (p := compiled.placements.get(part.name)) is not None}
    severity = "ok" if first.delegated else "error" if first.missing_kernels else "warning"
    return Explanation(
        module=first.module,
        source=str(first.source or ""),
        code=first.source.code if first.source else "",
        function=first.function_target,
        severity=severity,
        partition=first.partition,
        calls=tuple(calls),
        reason=first.reason.value if first.reason else "",
        message=first.message,
    )


def render(compiled: Decided) -> str:
    """Returns a table with one line a function; functions outside of the delegate have their code and the reason
    below."""
    explanations = explain(compiled)
    rows = [
        (e.module or "(the model)", e.source or "-", _short(e.function), _decision(e, compiled)) for e in explanations
    ]
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(3)]
    lines = []
    for row, e in zip(rows, explanations):
        lines.append("  ".join([cell.ljust(width) for cell, width in zip(row, widths)] + [row[3]]))
        if e.severity != "ok":
            lines += [f"    {text}" for text in (e.code, e.message) if text]
    return "\n".join([*lines, "", f"quantizer: {compiled.quantizer}", str(compiled.work)])


def _short(target: str) -> str:
    """Returns "conv2d" for "aten.conv2d.default"."""
    parts = target.split(".")
    return parts[1] if len(parts) > 2 else target


def _decision(e: Explanation, compiled: Decided) -> str:
    if e.severity != "ok":
        return f"outside: {e.reason}"
    whole = not compiled.obstacle
    return ", ".join(_called(call, whole) for call in e.calls) or "delegated, needs no call"


def _called(call: Placement, whole: bool) -> str:
    where = f"call {call.call}" if whole else f"partition {call.partition}, call {call.call}"
    return f"{where}: {call.kernel} ({call.provider})"


def to_json(compiled: Decided) -> str:
    """Returns `document` as JSON."""
    return json.dumps(document(compiled), indent=2) + "\n"


def document(compiled: Decided) -> dict[str, Any]:
    """Returns the same as data, of the version `SCHEMA`; fields are those of `Explanation` and `Work`."""
    return dict(_document(compiled))


def _document(compiled: Decided) -> Iterator[tuple[str, Any]]:
    yield "schema", SCHEMA
    yield "name", compiled.name
    yield "target", compiled.target.name
    yield "quantizer", compiled.quantizer
    yield "whole", not compiled.obstacle
    yield "work", dataclasses.asdict(compiled.work)
    yield "functions", [dataclasses.asdict(e) for e in explain(compiled)]
    yield "warnings", list(compiled.warnings)
