"""The cases of ExecuTorch's own Cortex-M backend, from the installed package: `cases`.

ExecuTorch tests its operator library with tables of `McuTestCase`: a module and its example inputs. They say what users
of that library expect, and nobody here chose them. Its tests are in the folders `ops`, of one operator each, `models`,
of several and of whole networks, and `misc`, of what its quantizer decides.
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
from pathlib import Path
from typing import Any
from unittest.mock import MagicMock

import torch

_TESTS = "executorch.backends.cortex_m.test"
_FOLDERS = ("ops", "models", "misc")
# Files whose cases are left out, with the reason. Each has one.
LEFT_OUT = {
    "test_mobilenet_v2": "downloads its weights",
    "test_mobilenet_v3": "downloads its weights",
    "test_wav2letter": "needs torchaudio",
    "test_yolo11": "needs ultralytics, and has no model in its table",
}
# ExecuTorch's files with cases also import what runs them, which writes programs for Arm's NPUs with these packages.
_NOT_NEEDED = {"tosa_serializer": (), "tosa": ("TosaGraph",)}


@functools.cache
def cases() -> Mapping[str, Any]:
    """Returns all cases by name, except those of the files in `LEFT_OUT`: "add/add_tensor" is case "add_tensor" of
    `test_add.py`. A case has a `model`, whose weights are the same each time, and `get_example_inputs()`."""
    found: dict[str, Any] = {}
    with _standing_in(), contextlib.redirect_stderr(io.StringIO()):
        for file, module in sorted(_files().items()):
            if file not in LEFT_OUT:
                torch.manual_seed(zlib.crc32(file.encode()))  # modules make their weights when they are imported
                for name, case in _tables(vars(importlib.import_module(module))):
                    found.setdefault(f"{file.removeprefix('test_')}/{name}", case)
    return found


def _files() -> dict[str, str]:
    """Returns the module by the name of each file with tests."""
    root = Path(importlib.import_module(_TESTS).__path__[0])
    return {
        info.name: f"{_TESTS}.{folder}.{info.name}"
        for folder in _FOLDERS
        for info in pkgutil.iter_modules([str(root / folder)])
        if info.name.startswith("test_")
    }


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
