"""Compiles the model of `compile`, `explain` and `accuracy`. Imports PyTorch and ExecuTorch."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any, Optional

import numpy as np

from ..compile import compile_model
from ..compiled import Compiled
from ..pipeline import Compilation
from ..quantization import samples
from ..quantization.calibration import Examples
from ..quantization.configuration import Configuration, QuantizationConfig
from ..quantization.interface import Inputs, required_names
from ..quantization.quantized import is_quantized
from ..quantization.quantizer import CmsisNnQuantizer
from ..quantization.samples import InputSpec
from ..support.errors import UserError
from .memories import memories_of
from .model import Prepared
from .printing import say

_UNCHANGED = Configuration("default", None, QuantizationConfig())  # no option says how to quantize


def compiled(
    arguments: argparse.Namespace, prepared: Prepared, inspect: Optional[Callable[[Compilation], None]] = None
) -> Compiled:
    """Compiles the model as the arguments say. `inspect` is called as `compile_model` does."""
    model = prepared.model
    quantized = is_quantized(model.module)
    if arguments.calibration is None and not quantized and hasattr(arguments, "data"):
        say(f"calibrating with {arguments.data}, for lack of --calibration")
        arguments.calibration = arguments.data
    if arguments.calibration is None and not (quantized or arguments.calibration_optional):
        raise UserError("calibration data is missing: give --calibration FILE.npz with representative inputs")
    examples = model.example_inputs
    if examples is None:
        specs = [samples.InputSpec(name) for name in required_names(model.module)]
    else:
        inputs = Inputs.of(model.module, examples)
        specs = [samples.InputSpec(n, tuple(x.shape)) for n, x in zip(inputs.names, inputs.tensors)]
    if arguments.calibration is None:
        if examples is None:
            raise UserError(
                f"{arguments.model} gives no example inputs: return (module, example_inputs), or give --calibration"
            )
        calibration: Any = None if quantized else Examples([examples])
    else:
        calibration = by_name(arguments.calibration, specs, "calibration data", arguments.labels)
        if examples is None:
            examples = {name: array[:1] for name, array in calibration.items()}
    return compile_model(
        model.module,
        examples,
        arguments.target,
        calibration,
        io=arguments.io,
        io_placement=arguments.io_placement,
        providers=arguments.providers.split(","),
        prefer=arguments.prefer,
        max_flash_growth=arguments.max_flash_growth,
        memories=memories_of(arguments),
        quantizer=None
        if quantized and prepared.configuration == _UNCHANGED
        else CmsisNnQuantizer.of(prepared.configuration),
        strict=arguments.strict and not arguments.calibration_optional,
        skip_passes=arguments.skip_pass or (),
        max_slowdown=arguments.max_slowdown,
        check=arguments.check,
        etrecord=getattr(arguments, "etrecord", False),
        name=prepared.name,
        print_after=arguments.print_after or (),
        progress=say,
        inspect=inspect,
    )


def by_name(path: str, specs: Sequence[InputSpec], purpose: str, labels: Optional[str]) -> dict[str, np.ndarray]:
    """Returns the arrays of a file by the names of inputs, the form in which inputs of any structure are accepted.
    `labels` is the name of an array that is no input."""
    loaded = samples.load(path, specs, purpose, () if labels is None else (labels,))
    return {spec.name: np.concatenate(column) for spec, column in zip(specs, zip(*loaded))}
