"""Checks the arguments of public functions by their annotations: `checked`.

A wrong type in Python is easy to give (`strict="no"`) and would pass silently, or fail deep inside with an error that
names nothing of the caller's. The annotations already say what an argument may be.
"""

from __future__ import annotations

import collections.abc
import functools
import inspect
import math
import numbers
import os
import types
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, ParamSpec, TypeVar, Union, Unpack, get_args, get_origin, get_type_hints

from .errors import UserError

P = ParamSpec("P")
R = TypeVar("R")
C = TypeVar("C")

_NAMES: dict[Any, str] = {
    bool: "True or False",
    int: "an integer",
    float: "a number",
    str: "a text",
    type(None): "None",
    Path: "a path",
}


def checked(*unchecked: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Decorates a function: a UserError names an argument that is not what its annotation says, and says what it may
    be. Integers and numbers of numpy become Python's; NaN is no number. Arguments called `unchecked` are for the
    function itself to check.

    Of `**options: Unpack[Keywords]` each key of that TypedDict is an argument, and a TypeError names one that there is
    not, as Python does for other arguments."""

    def decorate(function: Callable[P, R]) -> Callable[P, R]:
        signature, keywords = spelled_out(function)

        @functools.lru_cache(maxsize=1)
        def hints() -> Mapping[str, Any]:
            # On the first call, because annotations may name what is defined further down.
            return {**get_type_hints(function), **keywords}

        @functools.wraps(function)
        def checking(*args: P.args, **kwargs: P.kwargs) -> R:
            bound = signature.bind(*args, **kwargs)
            for name, value in bound.arguments.items():
                if name in hints() and name not in unchecked:
                    bound.arguments[name] = _taken(value, hints()[name], name)
            return function(*bound.args, **bound.kwargs)

        return _marked(checking)

    return decorate


def spelled_out(function: Callable[..., Any]) -> tuple[inspect.Signature, Mapping[str, Any]]:
    """Returns the signature of a function with the keys of `**options: Unpack[Keywords]` in the place of `options`, and
    the types of these keys, of which most functions have none. None of the keys has to be given."""
    signature = inspect.signature(function)
    *others, last = signature.parameters.values() or (None,)
    if last is None or last.kind is not last.VAR_KEYWORD:
        return signature, {}
    options: Any = last.annotation
    if isinstance(options, str) and options.startswith("Unpack["):
        options = inspect.signature(function, eval_str=True).parameters[last.name].annotation
    if get_origin(options) is not Unpack:
        return signature, {}
    keywords = get_type_hints(get_args(options)[0])
    spelled = [inspect.Parameter(k, last.KEYWORD_ONLY, default=None, annotation=hint) for k, hint in keywords.items()]
    return signature.replace(parameters=[*others, *spelled]), keywords


def checked_fields(cls: type[C]) -> type[C]:
    """Decorates a dataclass: its fields are checked when an object is made."""
    signature = inspect.signature(cls)
    initialize: Any = cls.__init__

    @functools.lru_cache(maxsize=1)
    def hints() -> Mapping[str, Any]:
        return get_type_hints(cls)

    @functools.wraps(initialize)
    def checking(self: C, *args: Any, **kwargs: Any) -> None:
        bound = signature.bind(*args, **kwargs)
        for name, value in bound.arguments.items():
            bound.arguments[name] = _taken(value, hints()[name], f"{name} of a {cls.__name__}")
        initialize(self, *bound.args, **bound.kwargs)

    setattr(cls, "__init__", _marked(checking))  # noqa: B010  mypy takes no assignment
    return cls


def is_checked(function: Any) -> bool:
    """Returns whether the arguments of a function or method are checked."""
    return bool(getattr(function, _MARK, False))


_MARK = "_checks_arguments"


def _marked(function: Callable[P, R]) -> Callable[P, R]:
    setattr(function, _MARK, True)
    return function


class _Mismatch(Exception):
    """The value is not what a part of the annotation says."""


def _taken(value: Any, hint: Any, name: str) -> Any:
    try:
        return _converted(value, hint)
    except _Mismatch:
        raise UserError(f"{name} is {_shown(value)}; it must be {_described(hint)}") from None


def _shown(value: Any) -> str:
    if value is None or isinstance(value, (bool, int, float, str)):
        text = repr(value)
        return text if len(text) <= 40 else text[:40] + "..."
    return f"of type {type(value).__name__}"


def _converted(value: Any, hint: Any) -> Any:
    """Returns `value` in the type of `hint`."""
    origin, parts = get_origin(hint), get_args(hint)
    if hint is Any or isinstance(hint, TypeVar):
        return value
    if origin in (Union, types.UnionType):
        for part in parts:
            try:
                return _converted(value, part)
            except _Mismatch:
                continue
        raise _Mismatch
    if origin is type:
        fits = isinstance(value, type) and (parts[0] is Any or issubclass(value, parts[0]))
    elif origin is collections.abc.Callable:
        fits = callable(value)
    elif hint is Path:
        fits = isinstance(value, os.PathLike)
    elif hint in (int, float):
        kind = numbers.Integral if hint is int else numbers.Real
        if not isinstance(value, kind) or isinstance(value, bool) or _is_no_float(value):
            raise _Mismatch
        # Whole numbers stay what they are where any number fits.
        return int(value) if isinstance(value, numbers.Integral) else float(value)
    elif origin is None:
        fits = isinstance(value, hint)
    else:
        return _collection(value, origin, parts)
    if not fits:
        raise _Mismatch
    return value


def _is_no_float(value: Any) -> bool:
    try:
        return math.isnan(value)
    except OverflowError:  # of an integer
        return True


def _collection(value: Any, origin: Any, parts: tuple[Any, ...]) -> Any:
    if issubclass(origin, collections.abc.Mapping):
        if not isinstance(value, collections.abc.Mapping):
            raise _Mismatch
        for key, item in value.items():
            _converted(key, parts[0])
            _converted(item, parts[1])
        return value
    if origin is collections.abc.Iterable and isinstance(value, collections.abc.Iterator):
        return _items(value, parts[0])
    # A text is a sequence of texts too, but never meant as one.
    if isinstance(value, (str, bytes)) or not isinstance(value, collections.abc.Collection):
        raise _Mismatch
    # The keys of a dict are a collection, but have no order that a caller would mean.
    if isinstance(value, collections.abc.Mapping) and origin is not collections.abc.Collection:
        raise _Mismatch
    found = [_converted(item, parts[0]) for item in value]
    return tuple(found) if origin is tuple or not isinstance(value, (set, frozenset)) else value


def _items(values: Iterator[Any], hint: Any) -> Iterator[Any]:
    """Yields the items, which can be had once only, and so are checked when they are used."""
    for number, value in enumerate(values):
        yield _taken(value, hint, f"item {number} of what is iterated over")


def _described(hint: Any) -> str:
    origin, parts = get_origin(hint), get_args(hint)
    if hint in _NAMES:
        return _NAMES[hint]
    if origin in (Union, types.UnionType):
        return " or ".join(map(_described, parts))
    if origin is type:
        return f"a class, a kind of {parts[0].__name__}"
    if origin is collections.abc.Callable:
        return "a function"
    if origin is None:
        return f"{'an' if hint.__name__[0] in 'AEIOU' else 'a'} {hint.__name__}"
    if issubclass(origin, collections.abc.Mapping):
        return f"a dict of {' to '.join(map(_described, parts))}"
    return f"a list, each item {_described(parts[0])}"
