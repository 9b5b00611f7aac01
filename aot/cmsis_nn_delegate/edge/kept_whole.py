"""Keeps functions whole that PyTorch decomposes whatever decomposition table it is given."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import torch

# Decomposed for the sake of their gradients.
_FUNCTIONS = (torch.ops.aten.hardshrink.default, torch.ops.aten.softshrink.default)


@contextlib.contextmanager
def kept_whole() -> Iterator[None]:
    """Inside this context PyTorch decomposes them only if its table says so."""
    key = torch._C.DispatchKey.Autograd
    removed = {op: op.py_kernels.pop(key) for op in _FUNCTIONS if key in op.py_kernels}
    for op in removed:
        op._dispatch_cache.clear()
    try:
        yield
    finally:
        for op, kernel in removed.items():
            op.py_kernels[key] = kernel
            op._dispatch_cache.clear()
