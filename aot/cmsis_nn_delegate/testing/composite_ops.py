"""Makes lowering of small models faster, in tests that lower hundreds of them."""

from __future__ import annotations

import functools

from torch._export import utils


def list_composite_ops_once() -> None:
    """Lets PyTorch enumerate its composite operators once in this process.

    Each decomposition of a program asks for them once a namespace, 39 times, so that an operator
    registered meanwhile is seen. That is a quarter of the time that a small model takes to lower.
    Operators that are registered in C++ after the first lowering are not decomposed.
    """
    # A private function: without it, a newer PyTorch takes its own time.
    enumerate_ops = getattr(utils, "_materialize_cpp_cia_ops", None)
    if enumerate_ops is not None and not hasattr(enumerate_ops, "cache_info"):
        utils._materialize_cpp_cia_ops = functools.cache(enumerate_ops)
