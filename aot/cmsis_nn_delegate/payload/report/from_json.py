"""Reads a report again that `Report.to_json` wrote."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from typing import Any, Union

from ...errors import UserError
from .model_report import Report


def report_of(document: Mapping[str, Any]) -> Report:
    """Returns the report that `Report.to_json` wrote as `document`. UserError names a field that `document` lacks
    because another version of the compiler wrote it."""
    found: Report = _value(Report, document)
    return found


def _value(kind: Any, data: Any) -> Any:
    """Returns `data` of JSON as a value of the type `kind`, one of those that fields of a report have."""
    if dataclasses.is_dataclass(kind):
        hints = typing.get_type_hints(kind)
        missing = next((name for name in hints if name not in data), None)
        if missing is not None:
            raise UserError(f"the report has no {missing!r}: compile the model again")
        return kind(**{name: _value(hint, data[name]) for name, hint in hints.items()})  # type: ignore[operator]  # any
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is Union:  # Optional
        return None if data is None else _value(arguments[0], data)
    if origin is tuple:  # of any length
        return tuple(_value(arguments[0], item) for item in data)
    return data
