"""ExecuTorch's operator suite, `backends/test/suite/operators`, which it runs with each of its backends: `cases`.

From the installed package, or from the sources that EXECUTORCH_DIR names if the package lacks it. A case is a test
function of the suite. It may lower several modules, or the same with several inputs.
"""

from __future__ import annotations

import functools
import importlib
import importlib.util
import itertools
import os
import pkgutil
import sys
import unittest
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, NamedTuple
from unittest.mock import patch

import torch

_SUITE = "executorch.backends.test.suite"


class Lowered(NamedTuple):
    """What a case wants to be lowered and run."""

    module: torch.nn.Module
    inputs: tuple[Any, ...]


@functools.cache
def cases() -> Mapping[str, Callable[[], list[Lowered]]]:
    """Returns what each case lowers, by name: "abs/test_abs_shapes". Weights and inputs are the same each time.

    They include 33 that ExecuTorch skips for all of its backends, because of NaN or of writes in place. ImportError if
    there is no suite.
    """
    folder = _package("operators")
    found: dict[str, Callable[[], list[Lowered]]] = {}
    with patch.object(unittest, "skip", lambda reason: lambda function: function):
        for file in sorted(info.name for info in pkgutil.iter_modules(folder.__path__)):
            if file.startswith("test_"):
                for name, function in vars(importlib.import_module(f"{folder.__name__}.{file}")).items():
                    if name.startswith("test_") and callable(function):
                        full = f"{file.removeprefix('test_')}/{name}"
                        found[full] = functools.partial(_recorded, function, full)
    return found


def _package(name: str) -> ModuleType:
    try:
        return importlib.import_module(f"{_SUITE}.{name}")
    except ModuleNotFoundError:
        sources = os.environ.get("EXECUTORCH_DIR")
        if not sources:
            raise ImportError(
                "the installed executorch has no operator suite: set EXECUTORCH_DIR to ExecuTorch's sources"
            ) from None
        # The folder of the sources may have any name, and its other packages would hide the installed ones.
        path = Path(sources) / "backends" / "test" / "suite"
        test = importlib.import_module("executorch.backends.test")
        test.__path__.append(str(path.parent))
        importlib.invalidate_caches()
        sys.modules.pop(_SUITE, None)
        return importlib.import_module(f"{_SUITE}.{name}")


def _recorded(function: Callable[..., None], name: str) -> list[Lowered]:
    """Calls a test function with a runner that only keeps what it is given."""
    kept: list[Lowered] = []

    def keep(module: torch.nn.Module, inputs: Any, **_: Any) -> None:
        kept.append(Lowered(module.eval(), tuple(inputs)))

    # The suite asks whether the backend quantizes, and then uses an LSTM made of operators that can be quantized.
    runner = SimpleNamespace(_flow=SimpleNamespace(name="cmsis_nn", quantize=True), lower_and_run_model=keep)
    torch.manual_seed(zlib.crc32(name.encode()))
    for arguments in _arguments(function):
        function(runner, **arguments)
    return kept


def _arguments(function: Callable[..., None]) -> Iterator[dict[str, Any]]:
    """Yields the arguments with which pytest would call a test function."""
    marks = [mark for mark in getattr(function, "pytestmark", ()) if mark.name == "parametrize"]
    choices = [[{mark.args[0]: value} for value in mark.args[1]] for mark in marks]
    for chosen in itertools.product(*choices):
        yield {name: value for part in chosen for name, value in part.items()}
