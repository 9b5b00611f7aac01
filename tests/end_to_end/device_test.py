"""Integer reference == simulated device, byte for byte: NETWORK on CORE."""

from __future__ import annotations

import os

import numpy as np
from cmsis_nn_delegate import simulate
from sim.boards import cores

from tests.end_to_end.vectors import artifact, differing_bytes, firmware, load_vectors

NETWORK = os.environ["NETWORK"]
CORE = os.environ["CORE"]
ISA = cores()[CORE].isa


def test_every_output_byte_equals_the_reference():
    vectors = load_vectors(NETWORK)
    assert len(vectors.inputs) == 16
    payload = artifact(NETWORK, ISA, "payload")
    run = simulate.run(payload, [[x] for x in vectors.inputs], firmware(CORE))
    assert (run.info.core, run.info.isa) == (CORE, ISA)
    outputs = np.stack([outputs[0] for outputs in run.outputs])
    assert differing_bytes(outputs, vectors.expected) == 0
