"""mobilenet in bands of rows on simulated devices: the same bytes, the arena of its input, and what it costs."""

from __future__ import annotations

import numpy as np
import pytest

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.passes.row_bands import chains, split_into_bands
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.runner import simulate
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing import networks
from tests.end_to_end.vectors import differing_bytes, firmware

# What the search of selection/bands.py finds, and the arena with it.
FOUND = {
    "cortex-m4": (("conv2d_2", "depthwise_conv2d_3"), 3, 27_936),
    "cortex-m55": (("conv2d_2", "depthwise_conv2d_3", "conv2d_4"), 4, 28_000),
}


@pytest.mark.parametrize("core", FOUND)
def test_bands_compute_the_same_bytes_in_less_memory(core):
    names, rows, arena_bytes = FOUND[core]
    graph = networks.mobilenet_v1_025()
    chain = next(chain for chain in chains(graph, 3) if tuple(node.name for node in chain) == names)
    whole, banded = (encode(g, get_target(core)) for g in (graph, split_into_bands(graph, chain, rows)))
    assert banded.plan.arena_bytes == arena_bytes < 0.75 * whole.plan.arena_bytes
    inputs = [networks.random_inputs(graph, seed) for seed in range(2)]
    expected = np.concatenate([reference.run(graph, x)[0] for x in inputs])
    runs = [simulate.run(encoded.payload, inputs, firmware(core)) for encoded in (whole, banded)]
    for run in runs:
        outputs = np.concatenate([outputs[0] for outputs in run.outputs])
        assert differing_bytes(outputs, expected) == 0
    if all(run.instructions for run in runs):
        before, after = (sum(run.instructions) for run in runs)
        print(f"{core}: {before} instructions, in bands {after}")
        assert after <= 1.01 * before
