"""Compiles and measures the model of `cmsisnn accuracy`. Imports PyTorch and ExecuTorch."""

from __future__ import annotations

import argparse
from typing import Optional

import numpy as np

from ..accuracy.measurement import measure
from ..accuracy.report import Accuracy
from ..pipeline import Compilation
from ..quantization import samples
from .labels import by_step
from .model import Prepared
from .model_compilation import compiled, data_of
from .printing import say


def measured(
    arguments: argparse.Namespace, prepared: Prepared, labels: Optional[np.ndarray], image: Optional[str]
) -> Accuracy:
    """`image` is what computes the device's outputs, in a simulator or on a board; None: this machine computes them, or
    a board that has its image."""
    compilations: list[Compilation] = []
    compiled(arguments, prepared, compilations.append)
    inputs = compilations[0].inputs
    specs = [samples.InputSpec(name, tuple(x.shape)) for name, x in zip(inputs.names, inputs.tensors)]
    data = data_of(arguments, arguments.data, specs, "data")
    return measure(
        compilations[0],
        data,
        by_step(labels, arguments),
        part=arguments.part,
        library=arguments.library,
        image=image,
        url=arguments.on if "://" in arguments.on else "",
        board=arguments.board_name or "",
        progress=say,
    )
