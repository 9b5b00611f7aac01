"""ds_cnn with weights that init() copies to another memory, on simulated devices: the same bytes, and the cost."""

from __future__ import annotations

import numpy as np
import pytest

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.report.model_report import build_report
from cmsis_nn_delegate.runner import simulate
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.targets.memory import Memory
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing import networks
from tests.end_to_end.vectors import differing_bytes, firmware


@pytest.mark.parametrize("core", ["cortex-m0plus", "cortex-m4", "cortex-m55"])
def test_copied_weights_give_the_same_bytes(core):
    graph = networks.ds_cnn()
    target = get_target(core)
    alone = encode(graph, target)
    mixed = encode(
        graph, target, PayloadOptions(memories=(Memory.of("tcm=11K:activations,weights"), Memory("sram", 64 << 10)))
    )
    some, everything = (
        encode(graph, target, PayloadOptions(memories=(Memory.of(f"tcm={size}:weights"),))) for size in ("8K", "64K")
    )
    assert 0 < some.copies.nbytes < everything.copies.nbytes and mixed.copies.nbytes and mixed.plan.region_bytes
    assert everything.copies.reads == everything.copies.all_reads > some.copies.reads > 0
    inputs = [networks.random_inputs(graph, seed) for seed in range(2)]
    expected = np.concatenate([reference.run(graph, x)[0] for x in inputs])
    runs = [simulate.run(encoded.payload, inputs, firmware(core)) for encoded in (alone, some, everything, mixed)]
    for run in runs:
        outputs = np.concatenate([outputs[0] for outputs in run.outputs])
        assert differing_bytes(outputs, expected) == 0
    for encoded, run in zip((some, everything), runs[1:]):
        if run.init_instructions is None or run.instructions is None:
            continue  # a simulator that does not count them exactly
        copying = run.init_instructions - runs[0].init_instructions
        predicted = build_report("ds_cnn", encoded).copies.init_instructions
        more = (sum(run.instructions) - sum(runs[0].instructions)) // len(inputs)
        print(
            f"{core}: init() copies {encoded.copies.nbytes} bytes in {copying} instructions, predicted {predicted}; "
            f"an inference takes {more} more"
        )
        assert 0 <= copying - predicted <= 100
        assert 0 < more <= 10  # the address of the copies
