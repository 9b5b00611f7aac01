"""Imports what takes long when a command comes to it: NumPy with the operators a quarter of a second, PyTorch with
ExecuTorch three seconds."""

from __future__ import annotations

import importlib
from typing import Any


def late_import(module: str) -> Any:
    """Returns the module `cmsis_nn_delegate.cli.MODULE`."""
    return importlib.import_module(f".{module}", __package__)
