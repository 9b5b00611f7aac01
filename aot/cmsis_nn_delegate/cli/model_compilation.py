"""Compiles the model of `compile`, `explain` and `accuracy`. Imports PyTorch and ExecuTorch."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Optional, Union

import numpy as np

from ..compile import compile_model
from ..compiled import Compiled
from ..pipeline import Compilation
from ..quantization import samples
from ..quantization.calibration import Examples, Sequences
from ..quantization.configuration import Configuration, QuantizationConfig
from ..quantization.interface import Inputs, required_names
from ..quantization.named_states import NamedStates
from ..quantization.quantized import is_quantized
from ..quantization.quantizer import CmsisNnQuantizer
from ..quantization.samples import InputSpec
from ..support.errors import UserError
from .memories import memories_of
from .model import Prepared
from .printing import say

_UNCHANGED = Configuration("default", None, QuantizationConfig())  # no option says how to quantize


class Request(NamedTuple):
    """The arguments of `compile_model`. `specs` are those of inputs in files."""

    positional: tuple[Any, ...]
    options: dict[str, Any]
    specs: Sequence[InputSpec]


def compiled(
    arguments: argparse.Namespace, prepared: Prepared, inspect: Optional[Callable[[Compilation], None]] = None
) -> Compiled:
    """Compiles the model as the arguments say. `inspect` is called as `compile_model` does."""
    request = request_of(arguments, prepared)
    return compile_model(
        *request.positional, **request.options, print_after=arguments.print_after or (), inspect=inspect
    )


def request_of(arguments: argparse.Namespace, prepared: Prepared) -> Request:
    """Returns what the arguments ask for."""
    model = prepared.model
    quantized = is_quantized(model.module)
    if arguments.calibration is None and not quantized and getattr(arguments, "data", None) is not None:
        say(f"calibrating with {arguments.data}, for lack of --calibration")
        arguments.calibration = arguments.data
    if arguments.calibration is None and not (quantized or arguments.calibration_optional):
        raise UserError("calibration data is missing: give --calibration FILE.npz with representative inputs")
    examples, state = model.example_inputs, _state(arguments)
    if examples is None:
        if state:
            raise UserError(
                f"{arguments.model} gives no example inputs, and that of a state is its initial value: return "
                "(module, example_inputs)"
            )
        specs = [samples.InputSpec(name) for name in required_names(model.module)]
    else:
        inputs = NamedStates(model.module, examples, state).inputs if state else Inputs.of(model.module, examples)
        specs = [samples.InputSpec(n, tuple(x.shape)) for n, x in zip(inputs.names, inputs.tensors)]
    if arguments.calibration is None:
        if examples is None:
            raise UserError(
                f"{arguments.model} gives no example inputs: return (module, example_inputs), or give --calibration"
            )
        calibration: Any = None if quantized else Examples()
    else:
        calibration = data_of(arguments, arguments.calibration, specs, "calibration data")
        if examples is None:
            first = next(iter(calibration.sequences)) if isinstance(calibration, Sequences) else calibration
            examples = {name: array[:1] for name, array in first.items()}
    options = dict(
        state=state,
        stream=getattr(arguments, "stream", None),
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
        progress=say,
    )
    return Request((model.module, examples, arguments.target, calibration), options, specs)


def _state(arguments: argparse.Namespace) -> dict[str, Union[str, int]]:
    found: dict[str, Union[str, int]] = {}
    for name, output in arguments.state:
        if name in found:
            raise UserError(f"--state {name} is given twice: a state has one new value")
        found[name] = output
    return found


def data_of(
    arguments: argparse.Namespace, path: str, specs: Sequence[InputSpec], purpose: str
) -> Union[dict[str, np.ndarray], Sequences]:
    """Returns the arrays of a file by the names of inputs, the form in which inputs of any structure are accepted, or
    its sequences. The array of labels is no input."""
    leave_out = () if arguments.labels is None else (arguments.labels,)
    if arguments.sequence:
        return Sequences(samples.load_sequences(path, specs, purpose, leave_out))
    loaded = samples.load(path, specs, purpose, leave_out)
    return {spec.name: np.concatenate(column) for spec, column in zip(specs, zip(*loaded))}
