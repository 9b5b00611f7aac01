"""What becomes of a model: `measure` compiles it and compares its results with those of PyTorch and of the runtime."""

from __future__ import annotations

import copy
import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Optional

import numpy as np
import torch

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.compiled import Compiled
from cmsis_nn_delegate.partition.quantized_io import io_quants
from cmsis_nn_delegate.quantization.samples import for_device
from cmsis_nn_delegate.runner.host import HostProgram
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from tests.coverage.samples import like

make_torch_faster()

LIBRARY = Path("runtime/libcmsis_nn_delegate.so")
CALIBRATED = 8  # samples of a drawn set that set the scales
EVALUATED = 4  # others, on which the results are compared

Sample = tuple[Any, ...]


@dataclass(frozen=True)
class Outcome:
    """Of a model with one set of data: `whole` says that it became one delegate call and nothing else. Then `steps` is
    how far its outputs are at most from those of the quantized module in PyTorch, in steps of the output's
    quantization, `indices` counts the integers among its outputs that are not PyTorch's, and `differing_bytes` the
    bytes in which the host's runtime differs from the integer reference. Otherwise `reasons` says why it is not whole,
    one sentence per operator outside, or the message with which the model is `refused`, and `parts` counts the delegate
    calls."""

    whole: bool
    reasons: tuple[str, ...] = ()
    steps: Optional[int] = None
    indices: int = 0
    differing_bytes: Optional[int] = None
    calls: int = 0
    parts: int = 0
    refused: bool = False

    @property
    def is_partly(self) -> bool:
        """Whether something is delegated, but not everything."""
        return not self.whole and self.parts > 0

    @property
    def is_near(self) -> bool:
        """Whether it is whole, each number within one step of PyTorch's, and each index the same."""
        return self.steps is not None and self.steps <= 1 and not self.indices


@dataclass(frozen=True)
class Sets:
    """The outcomes of a model with one set of data after the other. Set 0 has only its example inputs, which both
    calibrate and are compared, as in ExecuTorch's own tests; the others are drawn: `CALIBRATED` samples that calibrate,
    and `EVALUATED` others that are compared."""

    of: tuple[Outcome, ...]

    @property
    def whole(self) -> bool:
        return all(o.whole for o in self.of)

    @property
    def is_near(self) -> bool:
        return all(o.is_near for o in self.of)

    @property
    def steps(self) -> int:
        """The most steps of all sets that are whole."""
        return max((o.steps or 0 for o in self.of), default=0)

    @property
    def differing_bytes(self) -> int:
        return sum(o.differing_bytes or 0 for o in self.of)

    @property
    def worst(self) -> Outcome:
        """The first that is not whole, or else the furthest from PyTorch."""
        return min(self.of, key=lambda o: (o.whole, -o.indices, -(o.steps or 0)))


def measure_sets(name: str, model: torch.nn.Module, arguments: Sequence[Any], numbers: Sequence[int]) -> Sets:
    """Measures the sets with these numbers. `name` is what the data is drawn by. A model that is refused because of its
    example inputs is not tried with others."""
    outcomes: list[Outcome] = []
    for number in numbers:
        outcomes.append(measure(model, *data(name, arguments, number), LIBRARY))
        if outcomes[-1].refused:
            break
    return Sets(tuple(outcomes))


def measure_with_other_data(name: str, model: torch.nn.Module, arguments: Sequence[Any]) -> Outcome:
    """Measures with one set: `CALIBRATED` samples drawn by `name` calibrate, and the example inputs and others are
    compared."""
    calibration, evaluation = data(name, arguments, 1)
    return measure(model, calibration, [tuple(arguments), *evaluation[1:]], LIBRARY)


def data(name: str, arguments: Sequence[Any], number: int) -> tuple[list[Sample], list[Sample]]:
    """Returns the samples of set `number`: those that calibrate, and those that are compared."""
    if number == 0:
        return [tuple(arguments)], [tuple(arguments)]
    generator = torch.Generator().manual_seed(zlib.crc32(f"{name} {number}".encode()))
    samples = [like(arguments, generator) for _ in range(CALIBRATED + EVALUATED)]
    return samples[:CALIBRATED], samples[CALIBRATED:]


def measure(
    model: torch.nn.Module, calibration: Sequence[Sample], evaluation: Sequence[Sample], library: Path
) -> Outcome:
    """Compiles a copy of `model` as users do by default, and runs it with each sample of `evaluation`, of tensors and
    numbers. `library` is the delegate's."""
    try:
        compiled = compile_model(copy.deepcopy(model), calibration[0], "cortex-m55", list(calibration), check=False)
    except UserError as error:
        return Outcome(False, (str(error),), refused=True)
    if compiled.graph is None:
        return Outcome(False, _reasons(compiled), parts=len(compiled.parts))
    program = HostProgram(compiled.pte, library)
    module = compiled.program.module(check_guards=False)
    steps = indices = differing = 0
    for sample in evaluation:
        inputs = [x for x in sample if isinstance(x, torch.Tensor)]
        arrays = [for_device(np.asarray(x.detach().numpy(), order="C")) for x in inputs]
        wanted = reference.run(compiled.graph, arrays)
        channels_last = [index for index, x in enumerate(inputs) if not x.is_contiguous()]
        found = program.run(arrays, channels_last)
        differing += sum(int(np.count_nonzero(_bytes(a) != _bytes(b))) for a, b in zip(found, wanted, strict=True))
        with torch.no_grad():
            results = module(*inputs)
        far, other = _distance(compiled, wanted, [results] if isinstance(results, torch.Tensor) else list(results))
        steps, indices = max(steps, far), indices + other
    return Outcome(True, (), steps, indices, differing, len(compiled.graph.nodes), 1)


def _reasons(compiled: Compiled) -> tuple[str, ...]:
    refused = [report for report in compiled.refused if not report.is_border] or compiled.refused
    return tuple(dict.fromkeys(f"{report.target}: {report.message}" for report in refused)) or (compiled.obstacle,)


def _distance(compiled: Compiled, found: Sequence[np.ndarray], wanted: Sequence[torch.Tensor]) -> tuple[int, int]:
    """Returns the largest distance between quantized outputs, in steps, and how many integers differ."""
    _, quants = io_quants(compiled.program)
    steps = indices = 0
    for result, expected, quant in zip(found, wanted, quants, strict=True):
        if quant is not None:
            steps = max(steps, int(np.rint(np.abs(result - expected.numpy()).max(initial=0) / quant.scale[0])))
        else:
            assert not expected.is_floating_point(), "an output of a delegate without a scale"
            indices += int(np.count_nonzero(result != expected.numpy()))
    return steps, indices


def _bytes(array: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(array).reshape(-1).view(np.uint8)
