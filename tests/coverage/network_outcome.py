"""What becomes of a network: `measure` compiles it and compares its results with those of float PyTorch."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import XNNPACKQuantizer
from torch.export import ExportedProgram

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.compile import compile_for_targets
from cmsis_nn_delegate.compiled import Compiled
from cmsis_nn_delegate.graph.ir import Graph, Value
from cmsis_nn_delegate.graph.tensor_type import Quant
from cmsis_nn_delegate.report.delegated_work import Work
from cmsis_nn_delegate.runner import simulate
from cmsis_nn_delegate.runner.host import HostProgram
from tests.coverage.networks import random_like
from tests.coverage.outcome import LIBRARY
from tests.coverage.xnnpack import Int8Quantizer, arrays, results

# Ratios of signal to noise differ by 1 dB and more from one set of few samples to the next, so they are those of
# several sets, each of which calibrates anew. A large network takes minutes for each, and has one.
SETS = 3
LARGE = 250_000  # parameters
SAMPLES = 8  # of a set
COMPARED = 4  # of these with the integer reference
# For boards that take a payload of 16 MiB, with inputs, and an arena of nearly 4 MiB.
IMAGES = {"cortex-m55": "tests/coverage/runner_mps3_an547_sram.elf", "cortex-m4": "runtime/cortex_m4.elf"}


@dataclass(frozen=True)
class NetworkOutcome:
    """Of a network. The numbers of the payload exist only if it is one delegate call. `differing_bytes` are those of
    the host, `simulated_bytes` those of all simulated cores. `sqnr`, `xnnpack_sqnr` and `int8_sqnr` are ratios of
    signal to quantization noise in dB, means over sets of samples: of this project, of ExecuTorch's XNNPACKQuantizer,
    and of that if it quantizes all functions, and outputs as they are here."""

    whole: bool
    work: Work
    reasons: tuple[str, ...] = ()
    calls: int = 0
    arena_bytes: int = 0
    payload_bytes: int = 0
    differing_bytes: Optional[int] = None
    simulated_bytes: Optional[int] = None
    sqnr: Optional[float] = None
    xnnpack_sqnr: Optional[float] = None
    int8_sqnr: Optional[float] = None


def measure(module: torch.nn.Module, inputs: Sequence[torch.Tensor]) -> NetworkOutcome:
    """Compiles copies of `module`, calibrated with random numbers, and runs them with these."""
    generator = torch.Generator().manual_seed(1)
    sets = [[tuple(random_like(x, generator) for x in inputs) for _ in range(SAMPLES)] for _ in range(_sets(module))]
    compiled, *others = compile_for_targets(copy.deepcopy(module), tuple(inputs), list(IMAGES), sets[0], check=False)
    if compiled.graph is None or compiled.encoded is None:
        reasons = [f"{r.function_target}: {r.message}" for r in compiled.refused if not r.is_border]
        return NetworkOutcome(False, compiled.work, tuple(dict.fromkeys(reasons)) or (compiled.obstacle,))
    program, graph = HostProgram(compiled.pte, LIBRARY), compiled.graph
    first = [x.numpy() for x in sets[0][0]]
    wanted = reference.run(graph, first)
    exported = torch.export.export(copy.deepcopy(module), tuple(inputs))
    noises = [_noise(exported, sets[0], compiled)]
    for samples in sets[1:]:
        noises.append(_noise(exported, samples, _compiled(module, inputs, samples)))
    sqnr, xnnpack_sqnr, int8_sqnr = (sum(of_sets) / len(sets) for of_sets in zip(*noises))
    return NetworkOutcome(
        True,
        compiled.work,
        calls=len(compiled.encoded.calls),
        arena_bytes=compiled.encoded.plan.arena_bytes,
        payload_bytes=len(compiled.encoded.payload),
        differing_bytes=sum(_differing_on_host(graph, program, sample) for sample in sets[0][:COMPARED]),
        simulated_bytes=_simulated([compiled, *others], first, wanted),
        sqnr=sqnr,
        xnnpack_sqnr=xnnpack_sqnr,
        int8_sqnr=int8_sqnr,
    )


def _sets(module: torch.nn.Module) -> int:
    return 1 if sum(parameter.numel() for parameter in module.parameters()) > LARGE else SETS


def _compiled(module: torch.nn.Module, inputs: Sequence[torch.Tensor], samples: Sequence[Any]) -> Compiled:
    (compiled,) = compile_for_targets(copy.deepcopy(module), tuple(inputs), [next(iter(IMAGES))], samples, check=False)
    return compiled


def _noise(exported: ExportedProgram, samples: Sequence[Any], compiled: Compiled) -> tuple[float, float, float]:
    """Returns the ratios of a set of samples, with which `compiled` was calibrated. Its results are those of the host,
    which are far sooner there than those of the reference."""
    assert compiled.graph is not None
    program, module = HostProgram(compiled.pte, LIBRARY), exported.module(check_guards=False)
    with torch.no_grad():
        wanted = [array for sample in samples for array in arrays(module(*sample))]
    found = [array for sample in samples for array in program.run([x.numpy() for x in sample])]
    xnnpack = results(XNNPACKQuantizer(), exported, samples)
    int8 = results(Int8Quantizer(), exported, samples)
    quants = [_output_quant(compiled.graph, value) for value in compiled.graph.outputs]
    rounded = [_round(array, quants[index % len(quants)]) for index, array in enumerate(int8)]
    return ratio(wanted, found), ratio(wanted, xnnpack), ratio(wanted, rounded)


def _differing_on_host(graph: Graph, program: HostProgram, sample: Sequence[torch.Tensor]) -> int:
    numbers = [x.numpy() for x in sample]
    return differing(reference.run(graph, numbers), program.run(numbers))


def _simulated(compiled: Sequence[Compiled], arrays: Sequence[np.ndarray], wanted: Sequence[np.ndarray]) -> int:
    """Returns how many bytes differ on all simulated cores."""
    runs = [simulate.run(result.payload, [arrays], IMAGES[result.target.name]) for result in compiled]
    return sum(differing(wanted, run.outputs[0]) for run in runs)


def differing(wanted: Sequence[np.ndarray], found: Sequence[np.ndarray]) -> int:
    """Returns how many bytes differ."""
    pairs = zip(wanted, found, strict=True)
    return sum(int(np.count_nonzero(a.view(np.uint8) != b.view(np.uint8))) for a, b in pairs)


def _output_quant(graph: Graph, output: Value) -> Quant:
    producer = graph.producer(output)
    quant = None if producer is None else producer.inputs[0].quant
    if quant is None:
        raise ValueError(f"output {output.name} is not quantized")
    return quant


def _round(array: np.ndarray, quant: Quant) -> np.ndarray:
    """Returns the nearest numbers that int8 with these parameters has."""
    steps: np.ndarray = np.clip(np.rint(array / quant.scale[0]) + quant.zero_point, -128, 127)
    return (steps - quant.zero_point) * quant.scale[0]


def ratio(wanted: Sequence[np.ndarray], found: Sequence[np.ndarray]) -> float:
    """Returns the ratio of signal to noise in dB."""
    signal = sum(float(np.square(a.astype(np.float64)).sum()) for a in wanted)
    noise = sum(float(np.square(a.astype(np.float64) - b).sum()) for a, b in zip(wanted, found, strict=True))
    return math.inf if noise == 0 else 10 * math.log10(signal / noise)
