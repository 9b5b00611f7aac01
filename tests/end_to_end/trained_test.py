"""The networks with their trained weights: as exact as with random ones, and they still classify.

Runs if MLPERF_TINY_WEIGHTS names the folder with the weights (see examples/mlperf_tiny/networks.py):

    ./bazelw test //tests/end_to_end:trained_test --test_env=MLPERF_TINY_WEIGHTS=FOLDER
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

import numpy as np
import pytest
import torch

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.compiled import Compiled
from cmsis_nn_delegate.runner import simulate
from cmsis_nn_delegate.runner.host import HostProgram
from examples.mlperf_tiny.networks import NETWORKS, WEIGHTS_VARIABLE, weights_folder
from tests.end_to_end.vectors import differing_bytes, firmware

FOLDER = weights_folder()
pytestmark = pytest.mark.skipif(FOLDER is None, reason=f"{WEIGHTS_VARIABLE} is not set: no trained weights")

CORES = ("cortex-m4", "cortex-m7", "cortex-m33", "cortex-m55")
CLASSIFIERS = [name for name, network in NETWORKS.items() if network.is_classifier]


@dataclass
class Case:
    compiled: Compiled
    inputs: list[np.ndarray]  # int8
    expected: np.ndarray  # int8, by the reference
    float_outputs: np.ndarray  # of the original network


@functools.cache
def case(name: str, core: str) -> Case:
    network = NETWORKS[name]
    checks, float_outputs = network.check_data(FOLDER)
    samples = [torch.from_numpy(x[None]) for x in checks]
    if samples[0].dim() == 4:
        samples = [x.contiguous(memory_format=torch.channels_last) for x in samples]
    # Calibrated with one half, evaluated with the other.
    calibration, samples = samples[: len(samples) // 2], samples[len(samples) // 2 :]
    compiled = compile_model(
        network.trained(FOLDER),
        (samples[0],),
        core,
        [(x,) for x in calibration],
        io="int8",
        strict=True,
        name=name,
    )
    inputs = [compiled.graph.inputs[0].type.quantize(x.numpy()) for x in samples]
    expected = np.concatenate([reference.run(compiled.graph, [x])[0] for x in inputs])
    return Case(compiled, inputs, expected, float_outputs[len(calibration) :])


@pytest.mark.parametrize("core", ["cortex-m4", "cortex-m55"])
@pytest.mark.parametrize("name", NETWORKS)
def test_arena_is_the_least_possible(name, core):
    plan = case(name, core).compiled.encoded.plan
    assert plan.arena_bytes == plan.bound


@pytest.mark.parametrize("name", NETWORKS)
def test_host_equals_reference(name):
    c = case(name, "cortex-m4")
    program = HostProgram(c.compiled.pte, "runtime/libcmsis_nn_delegate.so")
    channels_last = (0,) if c.inputs[0].ndim == 4 else ()
    outputs = np.concatenate([program.run([x], channels_last)[0] for x in c.inputs])
    assert differing_bytes(outputs, c.expected) == 0


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("name", NETWORKS)
def test_device_equals_reference(name, core):
    c = case(name, "cortex-m55" if core == "cortex-m55" else "cortex-m4")
    run = simulate.run(c.compiled.payload, [[x] for x in c.inputs], firmware(core))
    outputs = np.concatenate([outputs[0] for outputs in run.outputs])
    assert differing_bytes(outputs, c.expected) == 0


@pytest.mark.parametrize("name", CLASSIFIERS)
def test_classes_agree_where_the_float_margin_exceeds_two_steps(name):
    c = case(name, "cortex-m4")
    ordered = np.sort(c.float_outputs, axis=1)
    clear = ordered[:, -1] - ordered[:, -2] > 2 * c.compiled.graph.outputs[0].quant.scale[0]
    assert clear.any()
    agree = c.expected.argmax(axis=1) == c.float_outputs.argmax(axis=1)
    assert agree[clear].all()
