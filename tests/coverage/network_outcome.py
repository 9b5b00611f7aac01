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
from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.partition.work import Work
from cmsis_nn_delegate.runner.host import HostProgram
from tests.coverage.outcome import LIBRARY

SAMPLES = 4


@dataclass(frozen=True)
class NetworkOutcome:
    """Of a network. The numbers of the payload exist only if it is one delegate call. `sqnr` and `xnnpack_sqnr` are the
    ratios of signal to quantization noise in dB, of this project and of ExecuTorch's XNNPACKQuantizer with the same
    samples."""

    whole: bool
    work: Work
    reasons: tuple[str, ...] = ()
    calls: int = 0
    arena_bytes: int = 0
    payload_bytes: int = 0
    differing_bytes: Optional[int] = None
    sqnr: Optional[float] = None
    xnnpack_sqnr: Optional[float] = None


def measure(module: torch.nn.Module, inputs: Sequence[torch.Tensor]) -> NetworkOutcome:
    """Compiles a copy of `module`, calibrated with random numbers, and runs it with them."""
    generator = torch.Generator().manual_seed(1)
    samples = [tuple(torch.randn(x.shape, generator=generator) for x in inputs) for _ in range(SAMPLES)]
    compiled = compile_model(
        copy.deepcopy(module), tuple(inputs), "cortex-m55", samples, observer="minmax", check=False
    )
    if compiled.graph is None or compiled.encoded is None:
        reasons = [f"{r.function_target}: {r.message}" for r in compiled.refused if not r.is_border]
        return NetworkOutcome(False, compiled.work, tuple(dict.fromkeys(reasons)) or (compiled.obstacle,))
    program = HostProgram(compiled.pte, LIBRARY)
    wanted, found, differing = [], [], 0
    for sample in samples:
        arrays = [x.numpy() for x in sample]
        results = reference.run(compiled.graph, arrays)
        for a, b in zip(results, program.run(arrays), strict=True):
            differing += int(np.count_nonzero(a.view(np.uint8) != b.view(np.uint8)))
        found += results
        with torch.no_grad():
            wanted += _arrays(module(*sample))
    return NetworkOutcome(
        True,
        compiled.work,
        calls=len(compiled.encoded.calls),
        arena_bytes=compiled.encoded.plan.arena_bytes,
        payload_bytes=len(compiled.encoded.payload),
        differing_bytes=differing,
        sqnr=_sqnr(wanted, found),
        xnnpack_sqnr=_sqnr(wanted, _xnnpack(module, inputs, samples)),
    )


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
