"""Reads a report again that `Report.to_json` wrote."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Union

from ..support.errors import UserError
from ..support.structured import read_json, structured
from .model_report import SCHEMA, Report

_AGAIN = "compile the model again"


def report_of(document: Any, where: str = "the report") -> Report:
    """Returns the report that `Report.to_json` wrote as `document`. UserError names a field that `document` lacks, or
    that does not fit the report, because another version of the compiler wrote it or it was damaged. The message calls
    the document by `where`."""
    schema = document.get("schema", 1) if isinstance(document, Mapping) else SCHEMA
    if schema != SCHEMA:
        raise UserError(
            f"{where} has version {schema!r} of the report in its field schema, and this program reads version "
            f"{SCHEMA}: {_AGAIN}"
        )
    return structured(document, Report, where, _AGAIN, complete=True)


def load_report(path: Union[str, Path]) -> Report:
    """Returns the report in a file that `Report.to_json` wrote. UserError if it has none, or one of another version."""
    return report_of(read_report(path), str(path))


def read_report(path: Union[str, Path]) -> Mapping[str, Any]:
    """Returns a report as `Report.to_json` writes it, whose fields have been checked. UserError as `load_report`."""
    document = read_json(path, _AGAIN)
    if not {"arena", "calls"} & document.keys():
        raise UserError(f"{path} is no report: give a NAME.report.json that `cmsisnn compile` wrote")
    report_of(document, str(path))
    return document
