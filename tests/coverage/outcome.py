"""What becomes of a model: `measure` compiles it and compares its results with those of PyTorch and of the runtime."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

import numpy as np
import torch

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.compiled import Compiled
from cmsis_nn_delegate.errors import UserError
from cmsis_nn_delegate.partition.int8_io import io_quants
from cmsis_nn_delegate.runner.host import HostProgram
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from tests.coverage.mcu_cases import cases

make_torch_faster()

LIBRARY = Path("runtime/libcmsis_nn_delegate.so")


@dataclass(frozen=True)
class Outcome:
    """Of a model: `whole` says that it became one delegate call and nothing else. Then `steps` is how far its outputs
    are at most from those of the quantized module in PyTorch, in steps of the output's quantization, and
    `differing_bytes` counts the bytes in which the host's runtime differs from the integer reference. Otherwise
    `reasons` says why it is not whole, one sentence per operator outside, or the message with which the model is
    `refused`."""

    whole: bool
    reasons: tuple[str, ...] = ()
    steps: Optional[int] = None
    differing_bytes: Optional[int] = None
    calls: int = 0
    refused: bool = False


def outcome_of(name: str) -> Outcome:
    """Returns what becomes of the case called `name`."""
    case = cases()[name]
    torch.manual_seed(0)
    return measure(case.model, case.get_example_inputs(), LIBRARY)


def measure(model: torch.nn.Module, arguments: Sequence[Any], library: Path, target: str = "cortex-m55") -> Outcome:
    """Compiles a copy of `model`, calibrated with `arguments`, tensors and numbers, and runs it with them. `library` is
    the delegate's."""
    try:
        compiled = compile_model(
            copy.deepcopy(model), tuple(arguments), target, [tuple(arguments)], observer="minmax", check=False
        )
    except UserError as error:
        return Outcome(False, (str(error),), refused=True)
    if compiled.graph is None:
        return Outcome(False, _reasons(compiled))
    inputs = [x for x in arguments if isinstance(x, torch.Tensor)]
    data = [np.asarray(x.detach().numpy(), order="C") for x in inputs]
    wanted = reference.run(compiled.graph, data)
    channels_last = [index for index, x in enumerate(inputs) if not x.is_contiguous()]
    found = HostProgram(compiled.pte, library).run(data, channels_last)
    return Outcome(
        True,
        steps=_steps(compiled, inputs, wanted),
        differing_bytes=sum(int(np.count_nonzero(_bytes(a) != _bytes(b))) for a, b in zip(found, wanted, strict=True)),
        calls=len(compiled.graph.nodes),
    )


def _reasons(compiled: Compiled) -> tuple[str, ...]:
    refused = [report for report in compiled.refused if not report.is_border] or compiled.refused
    return tuple(dict.fromkeys(f"{report.target}: {report.message}" for report in refused)) or (compiled.obstacle,)


def _steps(compiled: Compiled, inputs: Sequence[torch.Tensor], results: Sequence[np.ndarray]) -> int:
    """Returns the largest distance to the quantized module in PyTorch."""
    with torch.no_grad():
        wanted = compiled.program.module(check_guards=False)(*inputs)
    wanted = [wanted] if isinstance(wanted, torch.Tensor) else list(wanted)
    _, quants = io_quants(compiled.program)
    distances = [
        np.abs(result - want.numpy()).max() / (quant.scale[0] if quant else 1.0)
        for result, want, quant in zip(results, wanted, quants, strict=True)
    ]
    return int(np.rint(max(distances)))


def _bytes(data: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(data).reshape(-1).view(np.uint8)
