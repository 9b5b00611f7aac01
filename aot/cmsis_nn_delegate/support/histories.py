"""Keeps PyTorch from copying where the nodes of a graph came from: `shared_histories`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from torch.fx import traceback


@contextlib.contextmanager
def shared_histories() -> Iterator[None]:
    """Inside this context, the nodes of a graph and of its copies share the histories of what they came from.

    Each node that a pass makes gets a deep copy of the history of the node before it, which nothing changes any more,
    and which is longer after each pass: a tenth of the time in which an LSTM of 16 steps is compiled. A version of
    PyTorch without this class takes its own time."""
    source: Any = getattr(traceback, "NodeSource", None)
    if source is None or "__deepcopy__" in vars(source):
        yield
        return
    source.__deepcopy__ = lambda self, memo: self
    try:
        yield
    finally:
        del source.__deepcopy__
