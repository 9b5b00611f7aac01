"""ds_cnn in several memories on simulated devices: the same bytes, and what that costs."""

from __future__ import annotations

import numpy as np
import pytest

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.format.element import Element
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.runner import simulate
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.targets.memory import Memory
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing import networks
from tests.end_to_end.vectors import differing_bytes, firmware


@pytest.mark.parametrize("element", [Element.INT8, Element.INT16])
@pytest.mark.parametrize("core", ["cortex-m4", "cortex-m55"])
def test_several_memories_give_the_same_bytes(core, element):
    graph = networks.ds_cnn(element)
    alone = encode(graph, get_target(core))
    size = element.bits // 8
    memories = (Memory("itcm", size << 11), Memory("dtcm", size << 13), Memory("sram", 64 << 10))
    spread = encode(graph, get_target(core), PayloadOptions(memories=memories))
    arena, *others = spread.plan.memories
    assert all(0 < memory.nbytes <= memory.limit for memory in spread.plan.memories)
    assert arena.touched < sum(memory.touched for memory in others)
    inputs = [networks.random_inputs(graph, seed) for seed in range(2)]
    expected = np.concatenate([reference.run(graph, x)[0] for x in inputs])
    runs = [simulate.run(encoded.payload, inputs, firmware(core)) for encoded in (alone, spread)]
    for run in runs:
        outputs = np.concatenate([outputs[0] for outputs in run.outputs])
        assert differing_bytes(outputs, expected) == 0
    assert runs[1].arena_bytes == arena.nbytes < runs[0].arena_bytes
    if all(run.instructions for run in runs):
        before, after = (sum(run.instructions) // len(inputs) for run in runs)
        print(f"{core}, {element.value}: {before} instructions in one memory, {after} in three")
        assert before < after <= before + 30  # the addresses of two regions
