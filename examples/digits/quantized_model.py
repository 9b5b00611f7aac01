"""The network that was trained with quantization, as `cmsisnn compile` takes it."""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from torch.ao.quantization.fx import _decomposed  # noqa: F401  defines the program's operators
from torch.export import ExportedProgram

# Written by train_quantized.py. In a build it does not lie beside this file, but in the folder of the program's data.
_PROGRAM = Path("examples/digits/quantized.pt2")


def model() -> ExportedProgram:
    found = [Path(folder) / _PROGRAM for folder in sys.path if (Path(folder) / _PROGRAM).is_file()]
    if not found:
        raise FileNotFoundError(f"{_PROGRAM} is in no folder of sys.path: train_quantized.py writes it")
    return torch.export.load(found[0])
