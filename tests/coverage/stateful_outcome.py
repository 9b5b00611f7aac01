"""What becomes of a network that reads a signal step by step: `measure` compiles it, and compares step after step, from
its first inference on, with the integer reference and with float PyTorch."""

from __future__ import annotations

import copy
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Optional

import numpy as np
import torch

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.compile import compile_for_targets
from cmsis_nn_delegate.compiled import Compiled
from cmsis_nn_delegate.runner import simulate
from cmsis_nn_delegate.runner.host import HostProgram
from tests.coverage.network_outcome import IMAGES, differing
from tests.coverage.outcome import LIBRARY
from tests.coverage.signals import signals
from tests.coverage.stateful_networks import StatefulNetwork

CALIBRATED = 300  # steps, of another signal than those that are compared
COMPARED = 1000
STATELESS = 100  # inferences that are compared with the reference if none depends on those before: they have windows
WINDOW = 50  # steps over which noise is a mean: in one step the signal may be silent
SIMULATED = 5
ALL_IMAGES = {**IMAGES, "cortex-m0plus": "runtime/cortex_m0plus.elf"}

Steps = Sequence[Sequence[np.ndarray]]  # the inputs or outputs of each step


@dataclass(frozen=True)
class StatefulOutcome:
    """Of a network. Sizes are those of a Cortex-M55, of all delegate calls together. `differing_bytes` are those of the
    host, and `simulated_bytes` those of all simulated cores, None if it is not one call. `instructions` has those of a
    step, by simulated core. `sqnr` has the ratios of signal to noise in dB with the noise of the first steps, of those
    around step 100, and of the last ones; `clipped` those that exact outputs would have if they were clipped to the
    range that calibration saw. `seconds` is how long it took to compile for one target."""

    whole: bool
    reasons: tuple[str, ...]
    parts: int
    calls: int
    arena_bytes: int
    state_bytes: int
    payload_bytes: int
    seconds: float
    sqnr: tuple[float, float, float]
    clipped: tuple[float, float, float]
    differing_bytes: Optional[int] = None
    simulated_bytes: Optional[int] = None
    instructions: Mapping[str, int] = field(default_factory=dict)


def measure(name: str, network: StatefulNetwork) -> StatefulOutcome:
    """Compiles `network`, and runs it for `COMPARED` steps."""
    started = time.monotonic()
    compiled = compile_network(name, network, CALIBRATED)
    seconds = time.monotonic() - started
    module, _ = network.build()
    steps = inputs_of(network, COMPARED)
    host = HostProgram(compiled.pte, LIBRARY)
    found = [host.run(step) for step in steps]
    reasons = [f"{r.function_target}: {r.message}" for r in compiled.refused if not r.is_border]
    exact = outputs_of(module, steps)
    noise = noise_of(exact, found)
    calibration = [[x.numpy() for x in sample] for sample in _calibration(network, CALIBRATED)[1]]
    clipped = noise_of(exact, clipped_to(outputs_of(module, calibration), exact))
    starts = 0, 100 - WINDOW // 2, COMPARED - WINDOW
    differing_bytes = simulated_bytes = None
    instructions: dict[str, int] = {}
    if compiled.graph is not None:
        count = COMPARED if compiled.report.persistent_bytes else STATELESS
        differing_bytes = differing_steps(reference_outputs(compiled, steps[:count]), found[:count])
        simulated_bytes = 0
        for result in compile_for_cores(name, network):
            core = result.target.name
            run = simulate.run(result.payload, steps[:SIMULATED], ALL_IMAGES[core])
            simulated_bytes += differing_steps(reference_outputs(result, steps[:SIMULATED]), run.outputs)
            if run.instructions is not None:
                instructions[core] = run.instructions[-1]
    reports = compiled.part_reports
    return StatefulOutcome(
        compiled.graph is not None,
        tuple(dict.fromkeys(reasons)) or (compiled.obstacle,),
        len(compiled.parts),
        sum(len(report.calls) for report in reports),
        sum(report.arena.nbytes for report in reports),
        sum(report.persistent_bytes for report in reports),
        sum(len(part.payload) for part in compiled.parts),
        seconds,
        _three(noise, starts),
        _three(clipped, starts),
        differing_bytes,
        simulated_bytes,
        instructions,
    )


def compile_network(name: str, network: StatefulNetwork, steps: int, observer: Optional[str] = None) -> Compiled:
    """Compiles `network` for a Cortex-M55, calibrated with a signal of `steps` inferences."""
    module, calibration = _calibration(network, steps)
    (compiled,) = compile_for_targets(
        module, calibration[0], ["cortex-m55"], calibration, observer=observer, name=name, check=False
    )
    return compiled


def compile_for_cores(name: str, network: StatefulNetwork) -> list[Compiled]:
    """Compiles `network` for all simulated cores; few steps calibrate it."""
    module, calibration = _calibration(network, 10)
    return compile_for_targets(
        module, calibration[0], list(ALL_IMAGES), calibration, observer="minmax", name=name, check=False
    )


def _calibration(network: StatefulNetwork, steps: int) -> tuple[torch.nn.Module, list[tuple[torch.Tensor, ...]]]:
    module, (example,) = network.build()
    return module, [(x,) for x in signals(example, steps, torch.Generator().manual_seed(1), network.time)]


def inputs_of(network: StatefulNetwork, steps: int) -> Steps:
    """Returns the inputs that are compared."""
    _, (example,) = network.build()
    return [[x.numpy()] for x in signals(example, steps, torch.Generator().manual_seed(2), network.time)]


def outputs_of(module: torch.nn.Module, steps: Steps) -> Steps:
    """Returns the results of float PyTorch, of a copy of `module` that starts from its initial state."""
    module = copy.deepcopy(module)
    found = []
    with torch.no_grad():
        for step in steps:
            outputs = module(*map(torch.from_numpy, step))
            outputs = outputs if isinstance(outputs, tuple) else (outputs,)
            found.append([output.numpy().copy() for output in outputs])
    return found


def reference_outputs(compiled: Compiled, steps: Steps) -> Steps:
    """Returns the results of the integer reference, which keeps the states of one delegate call."""
    graph = compiled.graph
    if graph is None:
        raise ValueError(compiled.obstacle)
    states = reference.initial_states(graph)
    return [reference.run(graph, step, states=states) for step in steps]


def differing_steps(wanted: Steps, found: Steps) -> int:
    """Returns how many bytes differ."""
    return sum(differing(a, b) for a, b in zip(wanted, found, strict=True))


def noise_of(wanted: Steps, found: Steps) -> Callable[[int], float]:
    """Returns a function that returns the ratio of signal to noise in dB, with the noise of `WINDOW` steps from a given
    one on. The signal is that of all steps, so that the ratios of quiet and loud steps can be compared, and only what
    changes in it: with its mean, an output that hardly moves would look good."""
    exact = _rows(wanted)
    noise = _rows(found) - exact
    signal = float(exact.var(0).sum())

    def ratio(start: int) -> float:
        power = float(np.square(noise[start : start + WINDOW]).sum(1).mean())
        return 10 * math.log10(signal / max(power, 1e-30))

    return ratio


def clipped_to(calibration: Steps, outputs: Steps) -> Steps:
    """Returns `outputs`, clipped to the smallest and the largest number of each in the calibration: no int8 output can
    leave the range that calibration saw, however exact the rest is."""
    ranges = [(np.min(column), np.max(column)) for column in zip(*calibration)]
    return [[np.clip(output, *limits) for output, limits in zip(step, ranges, strict=True)] for step in outputs]


def _three(of: Callable[[int], float], starts: tuple[int, int, int]) -> tuple[float, float, float]:
    first, middle, last = starts
    return of(first), of(middle), of(last)


def _rows(steps: Steps) -> np.ndarray:
    return np.stack([np.concatenate([output.ravel() for output in step]) for step in steps]).astype(np.float64)
