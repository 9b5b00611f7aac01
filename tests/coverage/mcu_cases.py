"""The operator cases of ExecuTorch's own Cortex-M backend, from the installed package: `cases`.

ExecuTorch tests its operator library with tables of `McuTestCase`: a module and its example inputs. They say what users
of that library expect, and nobody here chose them.
"""

from __future__ import annotations

import contextlib
import functools
import importlib
import importlib.util
import io
import pkgutil
import sys
import zlib
from collections.abc import Iterator, Mapping
from typing import Any
from unittest.mock import MagicMock

import torch

_OPS = "executorch.backends.cortex_m.test.ops"
# ExecuTorch's files with cases also import what runs them, which writes programs for Arm's NPUs with these packages.
_NOT_NEEDED = {"tosa_serializer": (), "tosa": ("TosaGraph",)}


@functools.cache
def cases() -> Mapping[str, Any]:
    """Returns all cases by name: "add/add_tensor" is case "add_tensor" of `test_add.py`. A case has a `model`, whose
    weights are the same each time, and `get_example_inputs()`."""
    found: dict[str, Any] = {}
    with _standing_in(), contextlib.redirect_stderr(io.StringIO()):
        folder = importlib.import_module(_OPS)
        for file in sorted(info.name for info in pkgutil.iter_modules(folder.__path__)):
            if file.startswith("test_"):
                torch.manual_seed(zlib.crc32(file.encode()))  # modules make their weights when they are imported
                for name, case in _tables(vars(importlib.import_module(f"{_OPS}.{file}"))):
                    found.setdefault(f"{file.removeprefix('test_')}/{name}", case)
    return found


@contextlib.contextmanager
def _standing_in() -> Iterator[None]:
    """Lets modules import packages that are not installed and not needed for the cases."""
    missing = [name for name in _NOT_NEEDED if importlib.util.find_spec(name) is None]
    absent = [*missing, *(f"{name}.{part}" for name in missing for part in _NOT_NEEDED[name])]
    sys.modules.update((name, MagicMock(name=name)) for name in absent)
    try:
        yield
    finally:
        for name in absent:
            del sys.modules[name]


def _tables(members: Mapping[str, object]) -> Iterator[tuple[str, Any]]:
    """Yields the cases in all dictionaries of a module."""
    for table in members.values():
        if isinstance(table, dict):
            yield from ((name, case) for name, case in table.items() if type(case).__name__ == "McuTestCase")
