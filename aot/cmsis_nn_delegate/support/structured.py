"""Reads documents as the frozen dataclasses that declare their formats: `structured`, `read_json`.

A declaration says which fields a document has and what they are; fields with a default may be missing, and fields that
it does not have are left alone, because a later version may have added them. What does not fit is a UserError that
names the file, the field, what it is and what it must be.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import math
import reprlib
import types
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NewType, TypeVar, Union, get_args, get_origin

from .errors import UserError, require_file

if TYPE_CHECKING:
    from cattrs import Converter

T = TypeVar("T")

AnyBase = NewType("AnyBase", int)
"""A whole number that a document may also have as text in any base, such as "0x20000000"."""

_LARGEST = 2**63  # greater numbers are none that we or other programs write


def read_json(path: Union[str, Path], advice: str = "") -> dict[str, Any]:
    """Returns the object in a JSON file. UserError, which ends with `advice`, if there is none."""
    require_file(path, advice=advice)
    try:
        return parse_json(Path(path).read_bytes(), str(path), advice)
    except OSError as error:
        raise UserError(f"{path} cannot be read: {error.strerror or error}") from error


def parse_json(text: Union[str, bytes], where: str, advice: str = "") -> dict[str, Any]:
    """Returns the object in the text of a JSON file. UserError, which calls the file by `where` and ends with `advice`,
    if there is none."""
    try:
        found = json.loads(text)
    except RecursionError as error:
        raise UserError(_ended(f"{where} is no JSON: it is nested too deeply", advice)) from error
    except ValueError as error:  # also of an encoding, or of a number with thousands of digits
        raise UserError(_ended(f"{where} is no JSON: {error}", advice)) from error
    if not isinstance(found, dict):
        raise UserError(_ended(f"{where} contains no object", advice))
    return found


def structured(document: Any, kind: type[T], where: str, advice: str = "", *, complete: bool = False) -> T:
    """Returns data of JSON as `kind`, a dataclass. UserError, which calls the file by `where` and ends with `advice`,
    names the first field that does not fit. Fields are whole numbers, numbers, texts, true or false, `AnyBase`, tuples,
    mappings from texts, dataclasses, an Optional of these, or Any. A ValueError of `__post_init__` is one too.

    complete: fields with a default must be there too.
    """
    from cattrs import BaseValidationError, transform_error

    try:
        return _converter(complete).structure(document, kind)
    except (BaseValidationError, _Mismatch) as error:
        what, _, path = transform_error(error, "", _description)[0].rpartition(" @ ")
        field = path.removeprefix(".")
        raise UserError(_ended(f"{where}: {f'{field} ' if field else ''}{what}", advice)) from error


class _Mismatch(ValueError):
    """Says what is wrong with a field."""


def _ended(message: str, advice: str) -> str:
    return f"{message}; {advice}" if advice else message


def _description(error: BaseException, kind: object) -> str:
    if isinstance(error, KeyError):
        return "is missing"
    return str(error) if isinstance(error, _Mismatch) else f"is impossible: {error}"


def _require(data: Any, fits: bool, what: str) -> None:
    if not fits:
        raise _Mismatch(f"is {reprlib.repr(data)}; it must be {what}")


def _text(data: Any, _: object) -> str:
    _require(data, isinstance(data, str), "a text")
    return str(data)


def _truth(data: Any, _: object) -> bool:
    _require(data, isinstance(data, bool), "true or false")
    return bool(data)


def _whole(data: Any, _: object) -> int:
    _require(data, type(data) is int and abs(data) < _LARGEST, "a whole number")
    return int(data)


def _number(data: Any, _: object) -> Union[int, float]:
    fits = math.isfinite(data) if type(data) is float else type(data) is int and abs(data) < _LARGEST
    _require(data, fits, "a number")
    found: Union[int, float] = data
    return found


def _any_base(data: Any, kind: object) -> int:
    if not isinstance(data, str):
        return _whole(data, kind)
    with contextlib.suppress(ValueError):
        number = int(data, 0)
        if abs(number) < _LARGEST:
            return number
    raise _Mismatch(f"is {reprlib.repr(data)}; it must be a whole number, or one as text")


@functools.cache
def _converter(complete: bool) -> Converter:
    from cattrs import Converter
    from cattrs.cols import is_mapping, mapping_structure_factory
    from cattrs.gen import make_dict_structure_fn

    converter = Converter()
    for kind, hook in ((str, _text), (bool, _truth), (int, _whole), (float, _number)):
        converter.register_structure_hook(kind, hook)
    converter.register_structure_hook_func(lambda kind: kind is AnyBase, _any_base)

    def strict(fits: Callable[[Any], bool], make: Callable[..., Any], accepted: Any, what: str) -> None:
        """cattrs itself takes whatever can be iterated or indexed."""

        def factory(kind: Any, converter: Converter) -> Callable[[Any, Any], Any]:
            structure = make(kind, converter)

            # Of a field without a default, cattrs itself says that it is missing.
            optional = [
                field.name
                for field in (dataclasses.fields(kind) if complete and dataclasses.is_dataclass(kind) else ())
                if not (field.default is field.default_factory is dataclasses.MISSING)
            ]

            def hook(data: Any, kind: Any) -> Any:
                _require(data, isinstance(data, accepted), what)
                missing = next((name for name in optional if name not in data), None)
                if missing is not None:
                    raise _Mismatch(f"has no {missing}")
                return structure(data, kind)

            return hook

        converter.register_structure_hook_factory(fits, factory)

    strict(dataclasses.is_dataclass, make_dict_structure_fn, Mapping, "an object")
    strict(is_mapping, mapping_structure_factory, Mapping, "an object")
    strict(lambda kind: get_origin(kind) is tuple, _tuple_hook, (list, tuple), "a list")
    return converter


def _tuple_hook(kind: Any, converter: Converter) -> Callable[[Any, Any], Any]:
    """For tuple[X, ...], and tuple[X, X] of a certain length."""
    from cattrs.cols import homogenous_tuple_structure_factory

    parts = get_args(kind)
    of_any_length: Any = types.GenericAlias(tuple, (parts[0], ...))
    structure = homogenous_tuple_structure_factory(of_any_length, converter)

    def hook(data: Any, _: object) -> Any:
        _require(data, Ellipsis in parts or len(data) == len(parts), f"a list of {len(parts)}")
        return structure(data, kind)

    return hook
