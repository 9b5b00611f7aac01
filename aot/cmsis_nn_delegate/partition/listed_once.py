"""Keeps PyTorch from listing its operators 37 times for each decomposition."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from torch._export import utils

_NAME = "_materialize_cpp_cia_ops"


@contextlib.contextmanager
def listed_once() -> Iterator[None]:
    """Inside this context PyTorch enumerates once what is registered in C++, and not again for every namespace: a
    quarter of the time of lowering a small model. Nothing may be registered meanwhile. A version of PyTorch without
    this private function takes its own time."""
    enumerate_operators = getattr(utils, _NAME, None)
    if enumerate_operators is None:
        yield
        return
    done = False

    def once() -> None:
        nonlocal done
        if not done:
            enumerate_operators()
            done = True

    setattr(utils, _NAME, once)
    try:
        yield
    finally:
        setattr(utils, _NAME, enumerate_operators)
