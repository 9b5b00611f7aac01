"""Shows that the comparisons can fail: a payload of each network with one flipped bit, on a simulated Cortex-M4."""

from __future__ import annotations

import zlib

import numpy as np
import pytest

from cmsis_nn_delegate.format import schema
from cmsis_nn_delegate.format.opcodes import Opcode
from cmsis_nn_delegate.payload.decode import decode
from cmsis_nn_delegate.runner import simulate
from cmsis_nn_delegate.runner.job import JobFlag, build_job
from sim import simulator
from tests.end_to_end.vectors import NETWORKS, artifact, differing_bytes, firmware, load_vectors

# A block begins with a sum of each channel, and one of a convolution ends with 3 words for each of its 4 channels.
SUMS_AND_SCALES = {
    Opcode.CONV2D_PAIRS: (4, 12),
    Opcode.CONV2D_JOINT_PAIRS: (4, 12),
    Opcode.FULLY_CONNECTED_PAIRS: (8, 0),
    Opcode.FULLY_CONNECTED_JOINT_PAIRS: (8, 0),
}


def flipped_weight(network: str) -> bytes:
    """Returns the payload with the sign of a weight of the last linear layer flipped: the largest weight, so
    that no input can hide the change. The CRC is still that of the original."""
    payload = bytearray(artifact(network, "dsp", "payload"))
    calls = decode(bytes(payload)).calls
    linear = [call for call in calls if call.opcode in SUMS_AND_SCALES][-1]
    _, table = linear.references()["table"]
    sums, scales = SUMS_AND_SCALES[linear.opcode]
    offset, count = table + 4 * sums, 4 * (linear.args["block_words"] - sums - scales)
    weights = np.frombuffer(bytes(payload), np.int8, count, offset)
    payload[offset + int(np.abs(weights.astype(int)).argmax())] ^= 0x80
    return bytes(payload)


def with_own_crc(payload: bytes) -> bytes:
    """Returns `payload` with the correct CRC-32: only the comparison can find the change."""
    offset = schema.HEADER.offset_of("crc32")
    blank = payload[:offset] + bytes(4) + payload[offset + 4 :]
    return blank[:offset] + zlib.crc32(blank).to_bytes(4, "little") + blank[offset + 4 :]


@pytest.mark.parametrize("network", NETWORKS)
def test_the_comparison_sees_a_flipped_weight_bit(network):
    vectors = load_vectors(network)
    payload = with_own_crc(flipped_weight(network))
    run = simulate.run(payload, [[x] for x in vectors.inputs], firmware("cortex-m4"))
    outputs = np.stack([outputs[0] for outputs in run.outputs])
    assert differing_bytes(outputs, vectors.expected) > 0


@pytest.mark.parametrize("network", NETWORKS)
def test_the_crc_sees_a_flipped_weight_bit(network):
    job = build_job(flipped_weight(network), [], JobFlag.VERIFY_CRC)
    result = simulator.run(firmware("cortex-m4"), job=job, count=False)
    assert (result.status, result.exit_code) == ("exit", 1), result.explain()
    assert "##ERROR error=35" in result.uart  # InvalidProgram
