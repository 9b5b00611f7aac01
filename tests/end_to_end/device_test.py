"""Integer reference == simulated device, byte for byte: NETWORK on CORE."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np

from cmsis_nn_delegate.runner import simulate
from sim.boards import cores
from tests.end_to_end.vectors import artifact, differing_bytes, firmware, load_vectors

NETWORK = os.environ["NETWORK"]
CORE = os.environ["CORE"]
ISA = cores()[CORE].isa
# What --define kernels=... chose for the image.
KERNELS = json.loads(Path("runtime/kernels/selected.json").read_text())


def test_every_output_byte_equals_the_reference():
    vectors = load_vectors(NETWORK)
    assert len(vectors.inputs) == 16
    payload = artifact(NETWORK, ISA, "payload")
    run = simulate.run(payload, [[x] for x in vectors.inputs], firmware(CORE))
    print(f"kernels={run.info.kernels}: {KERNELS['reason']}")
    assert (run.info.core, run.info.isa, run.info.kernels) == (CORE, ISA, KERNELS["kernels"])
    outputs = np.stack([outputs[0] for outputs in run.outputs])
    assert differing_bytes(outputs, vectors.expected) == 0
