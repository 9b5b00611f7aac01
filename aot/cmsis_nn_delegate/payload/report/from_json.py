"""Reads a report again that `Report.to_json` wrote."""

from __future__ import annotations

import dataclasses
import typing
from collections.abc import Mapping
from typing import Any, Union

from ...errors import UserError
from .model_report import Report


def report_of(document: Mapping[str, Any], where: str = "the report") -> Report:
    """Returns the report that `Report.to_json` wrote as `document`. UserError names a field that `document` lacks
    because another version of the compiler wrote it, or whose value has another type than the report's. The message
    calls the document by `where`."""
    try:
        found: Report = _value(Report, document, "")
    except _Unfit as error:
        raise UserError(f"{where} {error}: compile the model again") from error
    return found


class _Unfit(Exception):
    """Says what is wrong with a document, and in which field."""


def _value(kind: Any, data: Any, path: str) -> Any:
    """Returns `data` of JSON, found at `path`, as a value of the type `kind`, one of those that fields of a report
    have."""
    origin, arguments = typing.get_origin(kind), typing.get_args(kind)
    if origin is Union:  # Optional
        return None if data is None else _value(arguments[0], data, path)
    if dataclasses.is_dataclass(kind):
        _require(data, Mapping, "an object", path)
        hints = typing.get_type_hints(kind)
        prefix = f"{path}." if path else ""
        missing = next((name for name in hints if name not in data), None)
        if missing is not None:
            raise _Unfit(f"has no {prefix + missing!r}")
        return kind(**{name: _value(hint, data[name], prefix + name) for name, hint in hints.items()})  # type: ignore[operator]  # any
    if origin is tuple:  # of any length
        _require(data, (list, tuple), "a list", path)
        return tuple(_value(arguments[0], item, f"{path}[{index}]") for index, item in enumerate(data))
    if origin is dict:
        _require(data, Mapping, "an object", path)
        return {name: _value(arguments[1], item, f"{path}[{name!r}]") for name, item in data.items()}
    if kind in _PLAIN:
        _require(data, *_PLAIN[kind], path)
    return data


_PLAIN: dict[Any, tuple[Any, str]] = {
    str: (str, "text"),
    bool: (bool, "true or false"),
    int: (int, "a whole number"),
    float: ((int, float), "a number"),
}


def _require(data: Any, types: Any, what: str, path: str) -> None:
    if not isinstance(data, types) or (isinstance(data, bool) and types is not bool):
        raise _Unfit(f"has something else than {what} as {path!r}" if path else f"is not {what}")
