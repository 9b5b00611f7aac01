"""What is known of a model that is not one payload: NAME.parts.json, and the same as text.

The document is that of `explain`, with the obstacle to one payload, the CRC-32 of the program, and the report of each
part (`model_report`).
"""

from __future__ import annotations

import json
import zlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, Union

from ..support.errors import UserError
from ..support.structured import read_json, structured
from . import explanation, text
from .delegated_work import Work
from .from_json import report_of
from .model_report import Report

Document = Mapping[str, Any]

_AGAIN = "compile the model again"


class Parts(explanation.Decided, Protocol):
    """What is read of a compiled model; `compiled.Compiled` describes the members."""

    @property
    def pte(self) -> bytes: ...
    @property
    def part_reports(self) -> Sequence[Report]: ...


@dataclass(frozen=True)
class PartsReport:
    """The fields of the document, but for `parts`."""

    name: str
    target: str
    quantizer: str
    whole: bool
    work: Work
    functions: tuple[explanation.Explanation, ...]
    warnings: tuple[str, ...]
    obstacle: str
    program_crc32: str  # 8 hexadecimal digits


@dataclass(frozen=True)
class _Listed:
    """What a document must have before its parts can be looked at."""

    parts: tuple[Any, ...]


def read(path: Union[str, Path]) -> Document:
    """Returns the document in NAME.parts.json, whose fields have been checked. UserError if the file has none, or one
    of another version."""
    document = read_json(path, _AGAIN)
    if not {"parts", "program_crc32", "obstacle"} & document.keys():
        raise UserError(f"{path} does not describe the parts of a model: give a NAME.parts.json")
    if document.get("schema") != explanation.SCHEMA:
        raise UserError(
            f"{path}: its schema is {document.get('schema')!r}, and this program reads {explanation.SCHEMA}: {_AGAIN}"
        )
    structured(document, PartsReport, str(path), _AGAIN, complete=True)
    for index, part in enumerate(structured(document, _Listed, str(path), _AGAIN).parts):
        report_of(part, f"{path}, parts[{index}]")
    return document


def document(compiled: Parts) -> Document:
    """Returns the document as data. Its `schema` is that of `explanation`."""
    return {
        **explanation.document(compiled),
        "obstacle": compiled.obstacle,
        "program_crc32": f"{zlib.crc32(compiled.pte):08x}",
        "parts": [json.loads(report.to_json()) for report in compiled.part_reports],
    }


def to_json(parts: Document) -> str:
    return json.dumps(parts, indent=2) + "\n"


def render(parts: Document) -> str:
    """Returns as text, with a final newline, a summary of the parts, what is outside of them, and the report of each.
    UserError if another version of the compiler wrote a report."""
    return "\n".join([_summary(parts), *_reports(parts["parts"])])


def _reports(parts: Sequence[Document]) -> Iterator[str]:
    for index, part in enumerate(parts, 1):
        yield f"Part {index} of {len(parts)}\n\n{text.render(report_of(part))}"


def _summary(parts: Document) -> str:
    heads = ("part", "calls", "multiplications", "arena", "payload", "predicted instructions")
    rows: list[tuple[str, ...]] = [heads]
    for index, part in enumerate(parts["parts"], 1):
        predicted = part["prediction"]["instructions"]
        figures = (len(part["calls"]), part["macs"], part["arena"]["nbytes"], part["flash_bytes"])
        rows.append((str(index), *map("{:,}".format, figures), "unknown" if predicted is None else f"{predicted:,}"))
    widths = [max(len(row[column]) for row in rows) for column in range(len(heads))]
    lines = [
        f"{parts['name']} for {parts['target']}",
        f"not one delegate call with the inputs and outputs of the model: {parts['obstacle']}",
        str(structured(parts["work"], Work, "the work")),
        f"program CRC-32 {parts['program_crc32']}",
        *([f"quantizer: {parts['quantizer']}"] if parts["quantizer"] else []),
        *(["", "Parts, sizes in bytes"] if parts["parts"] else []),
        *("  ".join(cell.rjust(width) for cell, width in zip(row, widths)) for row in rows if parts["parts"]),
        "",
        "Outside of the delegate",
    ]
    refused = [function for function in parts["functions"] if function["severity"] != "ok"]
    if not refused:
        lines.append("  nothing")
    # A loop in `forward` has the same lines again and again.
    shown = Counter(tuple(_lines(function)) for function in refused)
    for (first, *others), count in shown.items():
        lines += [f"{first}, {count} times" if count > 1 else first, *others]
    return "\n".join(lines) + "\n"


def _lines(function: Document) -> Iterator[str]:
    where = f"{function['module'] or '(the model)'}  {function['source'] or '-'}"
    yield f"  {where}  {function['function']}: {function['reason']}"
    yield from (f"      {line}" for line in (function["code"], function["message"]) if line)
