"""Inputs of `cmsisnn run` and `cmsisnn profile`, in the types that the compiled model takes."""

from __future__ import annotations

import argparse
from typing import Any, Optional

import numpy as np

from ..files.artifacts import Artifacts
from ..graph.ir import Graph
from ..graph.tensor_type import TensorType
from ..ops.registry import index_range
from ..quantization import samples
from ..quantization.samples import Sample
from ..runner.host_process import HostProcess
from ..support.errors import UserError
from .printing import say


def samples_of(artifacts: Artifacts, arguments: argparse.Namespace) -> list[Sample]:
    """Returns the inputs of `run`, in the types that the model takes."""
    wanted: list[tuple[np.dtype[Any], Optional[TensorType]]]
    if artifacts.has(".graph.npz"):
        graph, _ = artifacts.graph()
        specs = [samples.InputSpec(value.name, value.shape) for value in graph.inputs]
        wanted = [(value.element.numpy, value.type) for value in graph.inputs]
    else:
        program = host_program(artifacts, arguments)
        specs = [samples.InputSpec(f"input{i}", s) for i, s in enumerate(program.input_shapes)]
        try:
            wanted = [(np.dtype(dtype), None) for dtype in program.input_dtypes]
        except TypeError as error:
            raise UserError(f"{artifacts.path('.pte')} has an input of a type that is unknown here: {error}") from error
    loaded = [tuple(map(samples.for_device, sample)) for sample in samples.load(arguments.inputs, specs, "inputs")]
    if artifacts.has(".graph.npz"):
        _check_indices(graph, loaded, arguments.inputs)
    for index, (dtype, tensor) in enumerate(wanted):
        given = loaded[0][index].dtype
        if given == dtype:
            continue
        if tensor is None or not tensor.element.is_activation:
            raise UserError(f"{arguments.inputs}: input {index} is {given}; the model takes {dtype}")
        quant = tensor.per_tensor
        say(f"input {index}: quantizing with scale {quant.scale[0]:.9g}, zero point {quant.zero_point}")
    return [
        tuple(
            array if tensor is None or array.dtype == dtype else tensor.quantize(array)
            for array, (dtype, tensor) in zip(sample, wanted)
        )
        for sample in loaded
    ]


def _check_indices(graph: Graph, loaded: list[Sample], path: str) -> None:
    """UserError names an index that is in no table; a device would return an error, and not say which one it was."""
    for number, value in enumerate(graph.inputs):
        limits = index_range(graph, value)
        for count, sample in enumerate(loaded if limits else ()):
            low, high = limits or (0, 0)
            outside = sample[number][(sample[number] < low) | (sample[number] > high)]
            if outside.size:
                raise UserError(
                    f"{path}: sample {count} of input {value.name} holds {outside[0]}; as an index or a length, the "
                    f"model takes {low} to {high}"
                )


def host_program(artifacts: Artifacts, arguments: argparse.Namespace) -> HostProcess:
    if getattr(arguments, "started", None) is None:
        arguments.started = HostProcess(artifacts.read(".pte"), arguments.library, artifacts.path(".pte"))
    started: HostProcess = arguments.started
    return started
