"""Integer reference == the kernels of the build on simulated CORE, for every operator, and the scratch of
every call of the test networks == what the linked CMSIS-NN asks for."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
from cmsis_nn_delegate.payload.decode import decode
from cmsis_nn_delegate.payload.schema import ARGS, CALL_HEADER, Opcode
from cmsis_nn_delegate.payload.tensor_data import to_bytes
from cmsis_nn_delegate.target import get_target
from sim import simulator

from tests.conformance import cases, suite
from tests.conformance.outcome import parse
from tests.end_to_end.vectors import artifact, load_vectors

CORE = os.environ["CORE"]
TARGET = get_target(CORE)
CASES = 60
IMAGE = Path("tests/conformance") / f"{CORE.replace('-', '_')}.elf"
KERNELS = json.loads(Path("runtime/kernels/selected.json").read_text())
NETWORKS = ("autoencoder", "ds_cnn", "mobilenet_v1_025", "resnet8")
WITH_SCRATCH = (Opcode.CONV2D, Opcode.DEPTHWISE_CONV2D, Opcode.AVG_POOL2D)
# Of a suite; the mailbox has 16 MiB.
SUITE_BYTES = 12 << 20


def run(chosen):
    outcomes = []
    while chosen:
        count, size = 0, 0
        while count < len(chosen) and size < SUITE_BYTES:
            size += len(suite.pack(chosen[count : count + 1]))
            count += 1
        result = simulator.run(str(IMAGE), job=suite.pack(chosen[:count]), count=False, timeout_s=600)
        assert result.status == "exit", result.explain()
        outcome = parse(result.uart)
        assert (outcome.kernels, outcome.core) == (KERNELS["kernels"], CORE)
        assert outcome.cases == count
        assert outcome.failed == 0, outcome.explain(chosen)
        assert result.exit_code == 0
        outcomes.append(outcome)
        chosen = chosen[count:]
    return sum(outcome.scratch_checked for outcome in outcomes)


@pytest.mark.parametrize("operator", cases.KINDS)
def test_every_byte_equals_the_reference(operator, pytestconfig):
    run(list(cases.cases(operator, pytestconfig.getoption("--cases") or CASES, TARGET)))


@pytest.mark.parametrize("network", NETWORKS)
def test_scratch_of_the_networks_is_what_cmsis_nn_asks_for(network):
    if KERNELS["kernels"] != "cmsis-nn":
        pytest.skip(f"the image has portable kernels, which need no scratch: {KERNELS['reason']}")
    payload = artifact(network, TARGET.isa.name.lower(), "payload")
    view, vectors = decode(payload), load_vectors(network)
    inputs = (to_bytes(vectors.inputs[0], view.inputs[0]),)
    outputs = (to_bytes(np.asarray(vectors.expected[0]), view.outputs[0]),)
    calls = sum(call.opcode in WITH_SCRATCH for call in view.calls)
    assert run([suite.Case(network, payload, inputs, outputs)]) == calls


@pytest.mark.parametrize("operator", ("conv2d", "depthwise_conv2d", "avg_pool2d"))
def test_less_scratch_than_the_kernel_uses_is_refused(operator):
    """On the device itself, as sizes depend on the instruction set. The CRC is not looked at here."""
    lies = []
    for case in cases.cases(operator, 8, TARGET):
        (call,) = decode(case.payload).calls
        field = call.offset + CALL_HEADER.size + ARGS[call.opcode].offset_of("scratch_bytes")
        needed = call.args["scratch_bytes"]
        if needed > 1:
            payload = bytearray(case.payload)
            payload[field : field + 4] = (needed - 1).to_bytes(4, "little")
            lies.append(suite.Case(case.text, bytes(payload), case.inputs, case.outputs))
    if KERNELS["kernels"] != "cmsis-nn" or not lies:
        pytest.skip(f"no case of {operator} needs scratch with {KERNELS['kernels']} kernels on {CORE}")
    result = simulator.run(str(IMAGE), job=suite.pack(lies), count=False)
    outcome = parse(result.uart)
    assert (outcome.cases, outcome.failed) == (len(lies), len(lies))
    assert len(outcome.problems) == len(lies)
    assert all("refused" in problem for _, problem in outcome.problems)


def test_a_wrong_byte_is_seen():
    right = cases.case("fully_connected", 0, TARGET)
    damaged = bytes([right.outputs[0][0] ^ 1]) + right.outputs[0][1:]
    wrong = suite.Case(right.text, right.payload, right.inputs, (damaged,))
    result = simulator.run(str(IMAGE), job=suite.pack([right, wrong]), count=False)
    outcome = parse(result.uart)
    assert (result.exit_code, outcome.cases, outcome.failed) == (1, 2, 1)
