"""What a large network takes in a format of numbers, and how exact it is: `measure`."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.compile import compile_for_targets
from cmsis_nn_delegate.compiled import Compiled
from cmsis_nn_delegate.quantization.configuration import Configuration
from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer
from cmsis_nn_delegate.runner import simulate
from cmsis_nn_delegate.runner.host import HostProgram
from cmsis_nn_delegate.support.errors import UserError
from tests.coverage.network_outcome import IMAGES, SAMPLES, differing, ratio
from tests.coverage.network_presets import MIXED, PRESETS, Samples, mixed, preset
from tests.coverage.networks import random_like
from tests.coverage.outcome import LIBRARY
from tests.coverage.xnnpack import arrays

# Multiplications of a network up to which they are searched: that computes it hundreds of times on this machine.
MOST_SEARCHED = 25_000_000


@dataclass(frozen=True)
class NetworkInFormat:
    """Of a network in a format. `instructions` are those of an inference, by core, counted; sizes in bytes are those of
    the first core. `sqnr` is in dB, on samples that did not calibrate. `differing_bytes` are those of the host,
    `simulated_bytes` those of all simulated cores. `obstacle` says why there is none of that, "" if there is. `chosen`
    is what a search has found: "int16 in 3 of 12 modules"."""

    instructions: Mapping[str, int]
    arena_bytes: int = 0
    payload_bytes: int = 0
    sqnr: float = 0.0
    differing_bytes: int = 0
    simulated_bytes: int = 0
    obstacle: str = ""
    chosen: str = ""


def measure(module: torch.nn.Module, inputs: Sequence[torch.Tensor], name: str) -> NetworkInFormat:
    """Compiles copies of `module` in the format `name`, of FORMATS, and runs them; all data is random."""
    generator = torch.Generator().manual_seed(1)
    samples = [tuple(random_like(x, generator) for x in inputs) for _ in range(2 * SAMPLES)]
    calibrating, others = samples[:SAMPLES], samples[SAMPLES:]
    configuration, chosen = preset(name if name in PRESETS else next(iter(PRESETS))), ""
    try:
        if name == MIXED:
            (int8,) = _compiled(module, calibrating, configuration, list(IMAGES)[:1])
            if int8.work.multiplications.total > MOST_SEARCHED:
                return NetworkInFormat(
                    {}, obstacle=f"{int8.work.multiplications.total:,} multiplications: not searched"
                )
            sqnr = _sqnr(module, int8, others)
            found = mixed(copy.deepcopy(module), "cortex-m4", calibrating, others, sqnr, LIBRARY)
            configuration, chosen = found.configuration, found.outcome.name
        compiled = _compiled(module, calibrating, configuration, list(IMAGES))
    except UserError as error:
        return NetworkInFormat({}, obstacle=str(error).partition(". ")[0])
    first, arguments = compiled[0], [x.numpy() for x in others[0]]
    if first.graph is None or first.encoded is None:
        return NetworkInFormat({}, obstacle=first.obstacle)
    wanted = reference.run(first.graph, arguments)
    runs = {c.target.name: simulate.run(c.payload, [arguments], IMAGES[c.target.name]) for c in compiled}
    return NetworkInFormat(
        instructions={core: run.instructions[0] for core, run in runs.items() if run.instructions is not None},
        arena_bytes=first.encoded.plan.arena_bytes,
        payload_bytes=len(first.payload),
        sqnr=_sqnr(module, first, others),
        differing_bytes=differing(wanted, HostProgram(first.pte, LIBRARY).run(arguments)),
        simulated_bytes=sum(differing(wanted, run.outputs[0]) for run in runs.values()),
        chosen=chosen,
    )


def _compiled(
    module: torch.nn.Module, samples: Samples, configuration: Configuration, cores: Sequence[str]
) -> Sequence[Compiled]:
    quantizer, network = CmsisNnQuantizer.of(configuration), copy.deepcopy(module)
    return compile_for_targets(network, samples[0], cores, samples, check=False, quantizer=quantizer)


def _sqnr(module: torch.nn.Module, compiled: Compiled, samples: Samples) -> float:
    """Returns the ratio of what the kernels compute on this machine to the float network, in dB."""
    program = HostProgram(compiled.pte, LIBRARY)
    with torch.no_grad():
        wanted: list[Any] = [array for sample in samples for array in arrays(module(*sample))]
    return ratio(wanted, [array for sample in samples for array in program.run([x.numpy() for x in sample])])
