"""Runs the four networks as .pte on CORE with ExecuTorch's own executor: compares every byte, and checks the costs."""

from __future__ import annotations

import os

import pytest

from sim.boards import cores
from tests.end_to_end.vectors import differing_bytes
from tests.executorch.executor import needs_executor
from tools.executors.running import run_network

pytestmark = needs_executor

CORE = os.environ["CORE"]


@pytest.fixture(scope="module", params=["autoencoder", "ds_cnn", "mobilenet_v1_025", "resnet8"])
def network(request):
    return request.param


@pytest.fixture(scope="module")
def measured(network):
    return run_network(network, CORE, program=True)


def test_every_output_byte_equals_the_reference(measured):
    assert measured.outputs.shape[0] == 16
    assert differing_bytes(measured.outputs, measured.expected) == 0


def test_what_was_run(measured):
    info = measured.report.info
    assert (info.core, info.isa, info.executor) == (CORE, cores()[CORE].isa, "executorch")


def test_memory_by_allocator(measured):
    memory = measured.report.memory
    assert memory.method <= 400
    assert memory.method == measured.report.runtime_bytes
    # The temp allocator provides the delegate's arena and nothing else.
    assert memory.temp == measured.arena_bytes
    assert memory.objects <= 256
    assert measured.report.stack_bytes <= 2048


def test_instructions_of_load_and_execute(network, measured):
    if measured.execute is None:
        pytest.skip("the simulator does not count instructions exactly")
    standalone = run_network(network, CORE, program=False, count=1)
    # What the executor adds to the delegate's own init().
    assert measured.load - standalone.load <= 6_000
    # What it adds to an inference, which takes 0.6 to 300 million instructions.
    assert measured.execute[0] - standalone.execute[0] <= 1_000
