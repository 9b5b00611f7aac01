"""The model of `compile`, `explain` and `accuracy`, as the arguments say it.

It is loaded, and all else that can be is checked, before the compiler is imported: that takes seconds, and mistakes in
arguments show at once.
"""

from __future__ import annotations

import argparse
import gc
from typing import NamedTuple

from ..compiled import Compiled
from ..files.artifacts import SUFFIXES, check_name
from ..files.outputs import check_writable
from ..quantization import configuration_file
from ..quantization.configuration import Configuration, QuantizationConfig, is_preset, preset_names, require_no_search
from ..support.errors import UserError, require_file
from .late_import import late_import
from .model_source import LoadedModel, load_model
from .printing import say, silenced


class Prepared(NamedTuple):
    """`name` is that of the files."""

    model: LoadedModel
    name: str
    configuration: Configuration


def compiled_model(arguments: argparse.Namespace) -> Compiled:
    prepared = prepared_model(arguments)
    with silenced(arguments.debug):
        compiled: Compiled = late_import("model_compilation").compiled(arguments, prepared)
    return compiled


def prepared_model(arguments: argparse.Namespace) -> Prepared:
    """Checks the arguments and the files that they name, and loads the model."""
    if arguments.name is not None:
        check_name(arguments.name)
    output = getattr(arguments, "output", None)  # `explain` writes nothing
    if output is not None:
        check_writable(output)
    if arguments.calibration is not None:
        require_file(arguments.calibration, "calibration data: ")
    configuration = _configuration(arguments)
    # torch makes millions of objects that stay alive. Searching them for garbage would take a sixth of the time
    # of importing torch and of lowering a model.
    gc.set_threshold(1_000_000, 100, 100)
    say(f"loading {arguments.model}")
    model = load_model(arguments.model)
    name = arguments.name or model.name
    if output is not None:
        check_writable(output, [name + suffix for suffix in SUFFIXES])
    return Prepared(model, name, configuration)


def _configuration(arguments: argparse.Namespace) -> Configuration:
    """Returns how the model is to be quantized."""
    given = arguments.quantizer
    if given.endswith((".yaml", ".yml")):
        for option in ("observer", "linear_weights"):
            if getattr(arguments, option) is not None:
                raise UserError(f"--{option.replace('_', '-')} is given beside {given}: write it into that file")
        return configuration_file.load(given)
    require_no_search(given)
    if not is_preset(given):
        raise UserError(f"--quantizer is {given!r}; give a FILE.yaml, or a preset: {preset_names()}")
    return Configuration(given, arguments.linear_weights, QuantizationConfig(observer=arguments.observer))
