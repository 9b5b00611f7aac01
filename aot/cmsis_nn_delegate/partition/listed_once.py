"""Keeps PyTorch from listing its operators 37 times for each decomposition."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator

from torch._export import utils

# The first enumerates what is registered in C++; the second, which calls it, what a namespace has of that.
_LISTING = ("_materialize_cpp_cia_ops", "_collect_all_valid_cia_ops_for_namespace")


@contextlib.contextmanager
def listed_once() -> Iterator[None]:
    """Inside this context PyTorch lists the operators of a namespace once, not for each question about its table of
    decompositions: a third of the time of lowering a small model. Nothing may be registered meanwhile. A version of
    PyTorch without these private functions takes its own time."""
    listing = {name: getattr(utils, name) for name in _LISTING if hasattr(utils, name)}
    for name, function in listing.items():
        setattr(utils, name, functools.cache(function))
    try:
        yield
    finally:
        for name, function in listing.items():
            setattr(utils, name, function)
