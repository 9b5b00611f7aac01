"""What becomes of a network that streams: `measure` compiles it for a hop and for the whole window."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Optional

import numpy as np
import torch

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.compile import compile_for_targets
from cmsis_nn_delegate.compiled import Compiled
from cmsis_nn_delegate.runner import simulate
from cmsis_nn_delegate.runner.host import HostProgram
from tests.coverage.network_outcome import differing
from tests.coverage.outcome import LIBRARY
from tests.coverage.signals import signals
from tests.coverage.stateful_outcome import ALL_IMAGES, differing_steps, reference_outputs
from tests.coverage.streaming_networks import StreamingNetwork

WINDOWS = 8  # of data that calibrates
COMPARED = 1000  # hops after the first window
WITH_WHOLE = 20  # of these with the model of the whole window
SIMULATED = 5  # hops after the first window

Pair = tuple[Compiled, Compiled]  # of the stream and of the whole window
Steps = Sequence[Sequence[np.ndarray]]


@dataclass(frozen=True)
class StreamingOutcome:
    """Of a network. Sizes are bytes on a Cortex-M55. `differing_bytes` are those of the host in all hops, and
    `from_whole` those of some hops that differ from the model of the whole window. `instructions` has those of a hop
    and of a whole window by simulated core."""

    window: int
    hop: int
    arena_bytes: int
    state_bytes: int
    whole_arena_bytes: int
    differing_bytes: int
    from_whole: int
    simulated_bytes: int
    instructions: Mapping[str, tuple[int, int]] = field(default_factory=dict)


def measure(network: StreamingNetwork) -> StreamingOutcome:
    pairs = compile_pairs(network, list(ALL_IMAGES))
    stream, whole = pairs[0]
    first = stream.stream.warm_up if stream.stream else 0
    hops = hops_of(network, first + COMPARED)
    host = HostProgram(stream.pte, LIBRARY)
    found = [host.run(hop) for hop in hops]
    checked = range(first, len(hops), COMPARED // WITH_WHOLE)
    simulated, instructions = 0, {}
    short = hops[: first + SIMULATED]
    for of_core, whole_of_core in pairs:
        core = of_core.target.name
        run = simulate.run(of_core.payload, short, ALL_IMAGES[core])
        simulated += differing_steps(reference_outputs(of_core, short), run.outputs)
        other = simulate.run(whole_of_core.payload, [window_that_ends(network, hops, first)], ALL_IMAGES[core])
        if run.instructions is not None and other.instructions is not None:
            instructions[core] = run.instructions[-1], other.instructions[-1]
    report = stream.report
    return StreamingOutcome(
        stream.stream.window,
        stream.stream.hop,
        report.arena.nbytes,
        report.persistent_bytes,
        whole.report.arena.nbytes,
        differing_steps(reference_outputs(stream, hops), found),
        sum(from_whole(network, stream, whole, hops, found, step) for step in checked),
        simulated,
        instructions,
    )


def compile_pairs(network: StreamingNetwork, targets: Sequence[str], observer: Optional[str] = None) -> list[Pair]:
    """Returns both models for each target."""
    module, (example,) = network.build()
    windows = signals(example, WINDOWS, torch.Generator().manual_seed(1), network.stream.dim)
    both = [
        compile_for_targets(
            module, (example,), targets, [(x,) for x in windows], stream=stream, observer=observer, check=False
        )
        for stream in (network.stream, None)
    ]
    return list(zip(*both))


def hops_of(network: StreamingNetwork, count: int) -> Steps:
    """Returns `count` hops of a signal that did not calibrate."""
    _, (example,) = network.build()
    dim, hop = network.stream.dim, network.stream.hop
    return [[x.numpy()] for x in signals(example.narrow(dim, 0, hop), count, torch.Generator().manual_seed(2), dim)]


def window_that_ends(network: StreamingNetwork, hops: Steps, step: int) -> list[np.ndarray]:
    """Returns the window that ends with hop number `step`."""
    _, (example,) = network.build()
    dim = network.stream.dim
    window = example.shape[dim]
    count = -(-window // network.stream.hop)
    columns = np.concatenate([hop[0] for hop in hops[step + 1 - count : step + 1]], axis=dim)
    return [np.take(columns, np.arange(columns.shape[dim] - window, columns.shape[dim]), axis=dim)]


def from_whole(
    network: StreamingNetwork, stream: Compiled, whole: Compiled, hops: Steps, found: Steps, step: int
) -> int:
    """Returns how many bytes of what hop number `step` gave are not those of the model of the whole window."""
    assert whole.graph is not None and stream.stream is not None
    wanted = [
        output if kept is None else np.take(output, np.arange(kept.first, kept.end), axis=kept.dim)
        for output, kept in zip(
            reference.run(whole.graph, window_that_ends(network, hops, step)), stream.stream.outputs
        )
    ]
    return differing(wanted, found[step])
