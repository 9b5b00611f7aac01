"""Integer reference == simulated device, byte for byte: every network on CORE."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest

from cmsis_nn_delegate.runner import simulate
from sim.boards import cores
from tests.end_to_end.vectors import NETWORKS, artifact, differing_bytes, firmware, load_vectors

CORE = os.environ["CORE"]
ISA = cores()[CORE].isa
# What --define kernels=... chose for the image.
KERNELS = json.loads(Path("runtime/kernels/selected.json").read_text())


@pytest.mark.parametrize("network", NETWORKS)
def test_every_output_byte_equals_the_reference(network):
    vectors = load_vectors(network)
    assert len(vectors.inputs) == 16
    payload = artifact(network, ISA, "payload")
    run = simulate.run(payload, [[x] for x in vectors.inputs], firmware(CORE))
    print(f"kernels={run.info.kernels}: {KERNELS['reason']}")
    assert (run.info.core, run.info.isa, run.info.kernels) == (CORE, ISA, KERNELS["kernels"])
    outputs = np.stack([outputs[0] for outputs in run.outputs])
    assert differing_bytes(outputs, vectors.expected) == 0
