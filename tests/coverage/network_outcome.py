"""What becomes of a network: `measure` compiles it and compares its results with those of float PyTorch."""

from __future__ import annotations

import copy
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np
import torch
from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
    XNNPACKQuantizer,
    get_symmetric_quantization_config,
)
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.compile import compile_for_targets
from cmsis_nn_delegate.compiled import Compiled
from cmsis_nn_delegate.graph.ir import Graph, Value
from cmsis_nn_delegate.graph.tensor_type import Quant
from cmsis_nn_delegate.partition.work import Work
from cmsis_nn_delegate.runner import simulate
from cmsis_nn_delegate.runner.host import HostProgram
from tests.coverage.networks import random_like
from tests.coverage.outcome import LIBRARY

SAMPLES = 4
IMAGES = {"cortex-m55": "runtime/cortex_m55.elf", "cortex-m4": "runtime/cortex_m4.elf"}
# Bytes of a payload, with inputs, and of an arena that the images of both simulated boards take.
ROOM = 2 << 20


@dataclass(frozen=True)
class NetworkOutcome:
    """Of a network. The numbers of the payload exist only if it is one delegate call. `differing_bytes` are those of
    the host, `simulated_bytes` those of all simulated cores, None if it does not fit their boards. `sqnr` and
    `xnnpack_sqnr` are the ratios of signal to quantization noise in dB, of this project and of ExecuTorch's
    XNNPACKQuantizer with the same samples; `rounded_sqnr` is the latter's with outputs rounded to 8 bits as they are
    here."""

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
    rounded_sqnr: Optional[float] = None


def measure(module: torch.nn.Module, inputs: Sequence[torch.Tensor]) -> NetworkOutcome:
    """Compiles a copy of `module`, calibrated with random numbers, and runs it with them."""
    generator = torch.Generator().manual_seed(1)
    samples = [tuple(random_like(x, generator) for x in inputs) for _ in range(SAMPLES)]
    compiled, *others = compile_for_targets(copy.deepcopy(module), tuple(inputs), list(IMAGES), samples, check=False)
    if compiled.graph is None or compiled.encoded is None:
        reasons = [f"{r.function_target}: {r.message}" for r in compiled.refused if not r.is_border]
        return NetworkOutcome(False, compiled.work, tuple(dict.fromkeys(reasons)) or (compiled.obstacle,))
    program = HostProgram(compiled.pte, LIBRARY)
    wanted, found, differing = [], [], 0
    for sample in samples:
        arrays = [x.numpy() for x in sample]
        results = reference.run(compiled.graph, arrays)
        differing += _differing(results, program.run(arrays))
        found += results
        with torch.no_grad():
            wanted += _arrays(module(*sample))
    xnnpack = _xnnpack(module, inputs, samples)
    quants = [_output_quant(compiled.graph, value) for value in compiled.graph.outputs]
    rounded = [_round(array, quants[index % len(quants)]) for index, array in enumerate(xnnpack)]
    return NetworkOutcome(
        True,
        compiled.work,
        calls=len(compiled.encoded.calls),
        arena_bytes=compiled.encoded.plan.arena_bytes,
        payload_bytes=len(compiled.encoded.payload),
        differing_bytes=differing,
        simulated_bytes=_simulated([compiled, *others], [x.numpy() for x in samples[0]], found[: len(quants)]),
        sqnr=_sqnr(wanted, found),
        xnnpack_sqnr=_sqnr(wanted, xnnpack),
        rounded_sqnr=_sqnr(wanted, rounded),
    )


def _simulated(
    compiled: Sequence[Compiled], arrays: Sequence[np.ndarray], wanted: Sequence[np.ndarray]
) -> Optional[int]:
    """Returns how many bytes differ on all simulated cores; None if their boards have no room for the network."""
    if any(max(len(result.payload), result.encoded.plan.arena_bytes) > ROOM for result in compiled):
        return None
    runs = [simulate.run(result.payload, [arrays], IMAGES[result.target.name]) for result in compiled]
    return sum(_differing(wanted, run.outputs[0]) for run in runs)


def _differing(wanted: Sequence[np.ndarray], found: Sequence[np.ndarray]) -> int:
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


def _xnnpack(module: torch.nn.Module, inputs: Sequence[torch.Tensor], samples: Sequence[Any]) -> list[np.ndarray]:
    """Returns the results of all samples with ExecuTorch's quantizer for CPUs, static and per channel."""
    graph = torch.export.export(copy.deepcopy(module), tuple(inputs)).module(check_guards=False)
    quantizer = XNNPACKQuantizer().set_global(get_symmetric_quantization_config(is_per_channel=True))
    with torch.no_grad():
        prepared = prepare_pt2e(graph, quantizer)
        for sample in samples:
            prepared(*sample)
        converted = convert_pt2e(prepared)
        return [array for sample in samples for array in _arrays(converted(*sample))]


def _arrays(results: Any) -> list[np.ndarray]:
    return [results.numpy()] if isinstance(results, torch.Tensor) else [result.numpy() for result in results]


def _sqnr(wanted: Sequence[np.ndarray], found: Sequence[np.ndarray]) -> float:
    signal = sum(float(np.square(a.astype(np.float64)).sum()) for a in wanted)
    noise = sum(float(np.square(a.astype(np.float64) - b).sum()) for a, b in zip(wanted, found, strict=True))
    return math.inf if noise == 0 else 10 * math.log10(signal / noise)
