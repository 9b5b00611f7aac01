"""Compares the instructions of one inference with CMSIS-NN's kernels to those of C code that calls the same kernels,
and those of int16 and of weights of 4 bits with those of int8.

Uses trained weights if MLPERF_TINY_WEIGHTS names their folder, else random ones:

    CMSIS_NN_DIR=... ./bazelw test //tests/budgets:instructions_test --test_env=MLPERF_TINY_WEIGHTS=FOLDER
"""

from __future__ import annotations

import functools
import json
import re
from pathlib import Path

import pytest
import torch

from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.passes.run_passes import OPTIONAL_PASSES
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.providers.registry import CMSIS_NN, PORTABLE
from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer
from cmsis_nn_delegate.runner import simulate
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.targets.target import get_target
from examples.mlperf_tiny.networks import NETWORKS, weights_folder
from tests.end_to_end.vectors import firmware

KERNELS = json.loads(Path("runtime/kernels/selected.json").read_text())
FOLDER = weights_folder()

# Direct calls of CMSIS-NN at the pinned commit, with linear weights per tensor and nothing left out of the networks:
# benchmarks/direct, which `bazel run //benchmarks` counts again.
DIRECT = {
    ("ds_cnn", "cortex-m4"): 7_697_560,
    ("resnet8", "cortex-m4"): 29_857_090,
    ("mobilenet_v1_025", "cortex-m4"): 24_091_982,
    ("autoencoder", "cortex-m4"): 579_450,
    ("ds_cnn", "cortex-m55"): 1_785_074,
    ("resnet8", "cortex-m55"): 4_808_037,
    ("mobilenet_v1_025", "cortex-m55"): 6_423_218,
    ("autoencoder", "cortex-m55"): 146_853,
}
DIRECT_GCC = "12.2"  # Another compiler generates different code for the same kernels.
OVER_DIRECT = 0.003

# With a scale per output, the kernels of a network with only linear layers cost this much more.
PER_CHANNEL = {"cortex-m4": 0.025, "cortex-m55": 0.044}

# Of a network in a format, without softmax, which computes in int8, and with the tuned kernels: instructions and bytes
# of payload for each one in int8, at most, and bytes of arena. Inputs and outputs of int16 are int16, all others int8.
FORMATS = {
    ("ds_cnn", "int16", "cortex-m4"): (1.19, 1.03, 16_896),
    ("ds_cnn", "int16", "cortex-m55"): (1.82, 1.03, 20_736),
    ("resnet8", "int16", "cortex-m4"): (1.26, 1.03, 67_168),
    ("resnet8", "int16", "cortex-m55"): (1.8, 1.03, 67_600),
    ("mobilenet_v1_025", "int16", "cortex-m4"): (1.19, 1.03, 110_592),
    ("mobilenet_v1_025", "int16", "cortex-m55"): (1.65, 1.03, 110_592),
    ("autoencoder", "int16", "cortex-m4"): (1.24, 1.06, 1_536),
    ("autoencoder", "int16", "cortex-m55"): (1.9, 1.06, 1_536),
    ("ds_cnn", "w4", "cortex-m4"): (1.12, 0.58, 8_896),
    ("ds_cnn", "w4", "cortex-m55"): (1.22, 0.58, 10_368),
    ("resnet8", "w4", "cortex-m4"): (1.13, 0.58, 34_160),
    ("resnet8", "w4", "cortex-m55"): (1.1, 0.58, 33_808),
    ("mobilenet_v1_025", "w4", "cortex-m4"): (1.12, 0.58, 55_296),
    ("mobilenet_v1_025", "w4", "cortex-m55"): (1.12, 0.58, 55_296),
    ("autoencoder", "w4", "cortex-m4"): (1.27, 0.58, 768),
    ("autoencoder", "w4", "cortex-m55"): (1.07, 0.58, 768),
}

# For softmax, whose instructions depend on the data: with random weights, no class is ruled out.
RANDOM_SOFTMAX = 3_000


@functools.cache
def compiled_network(name: str, linear_weights: str):
    """Returns (graph, a quantized input)."""
    network = NETWORKS[name]
    if FOLDER is None:
        module, images = network.random(), network.random_inputs(8)
    else:
        module, images = network.trained(FOLDER), torch.from_numpy(network.check_data(FOLDER)[0])
    samples = list(images.split(1))
    if images.dim() == 4:
        samples = [x.contiguous(memory_format=torch.channels_last) for x in samples]
    compiled = compile_model(
        module,
        (samples[0],),
        "cortex-m4",
        [(x,) for x in samples],
        io="int8",
        strict=True,
        observer="minmax",
        linear_weights=linear_weights,
        # Nothing is left out of the networks that the calls are counted of.
        skip_passes=OPTIONAL_PASSES,
        name=name,
    )
    return compiled.graph, compiled.graph.inputs[0].type.quantize(samples[0].numpy())


@functools.cache
def in_format(name: str, preset: str):
    """Returns (the graph of the network in the quantizer's format `preset`, without its softmax, a quantized input)."""
    network = NETWORKS[name]
    module = network.random() if FOLDER is None else network.trained(FOLDER)
    if network.is_classifier:
        module.classifier = module.classifier[:-1]
    samples = network.random_inputs(8) if FOLDER is None else torch.from_numpy(network.check_data(FOLDER)[0])
    compiled = compile_model(
        module,
        (samples[:1],),
        "cortex-m4",
        [(x,) for x in samples.split(1)],
        io="int16" if preset == "int16" else "int8",
        strict=True,
        quantizer=CmsisNnQuantizer(preset=preset),
        check=False,
        name=name,
    )
    return compiled.graph, compiled.graph.inputs[0].type.quantize(samples[:1].numpy())


@functools.cache
def instructions_in_format(name: str, preset: str, core: str) -> int:
    """Returns those of an inference; skips without exact counts."""
    graph, image = in_format(name, preset)
    run = simulate.run(encode(graph, get_target(core)).payload, [[image]], firmware(core))
    if run.instructions is None:
        pytest.skip(f"no exact instruction counts: {run.simulator}")
    (count,) = run.instructions
    return count


def compilers(image: Path) -> set[str]:
    """Returns the versions of GCC ("12.2") that compiled `image`, from its section .comment."""
    return {version.decode() for version in re.findall(rb"GCC: [^\0]*\) (\d+\.\d+)", image.read_bytes())}


def test_compilers_by_their_comments(tmp_path):
    image = tmp_path / "image.elf"
    image.write_bytes(
        b"\0GCC: (15:12.2.rel1-1) 12.2.1 20221205\0"
        b"GCC: (Arm GNU Toolchain 13.2.rel1 (Build arm-13.7)) 13.2.1 20231009\0 12.9"
    )
    assert compilers(image) == {"12.2", "13.2"}


def inference(name: str, core: str, linear_weights: str) -> int:
    """Returns the instructions; skips without CMSIS-NN, the compiler of DIRECT, or exact counts."""
    if not KERNELS["with_cmsis_nn"]:
        pytest.skip(f"the image has portable kernels: {KERNELS['reason']}")
    found = compilers(firmware(core))
    if found != {DIRECT_GCC}:
        pytest.skip(
            f"the limits are for GCC {DIRECT_GCC}, the image was built by {', '.join(sorted(found)) or 'another one'}"
        )
    graph, image = compiled_network(name, linear_weights)
    stock = encode(graph, get_target(core), PayloadOptions(providers=(CMSIS_NN, PORTABLE)))
    run = simulate.run(stock.payload, [[image]], firmware(core))
    if run.instructions is None:
        pytest.skip(f"no exact instruction counts: {run.simulator}")
    (count,) = run.instructions
    over = count / DIRECT[name, core] - 1
    weights = "random" if FOLDER is None else "trained"
    print(f"{name} on {core}, {weights} weights, linear {linear_weights}: {count:,}, {over:+.2%}")
    return count


@pytest.mark.parametrize("name, core", DIRECT)
def test_as_few_as_calling_the_kernels_directly(name, core):
    allowance = RANDOM_SOFTMAX if FOLDER is None and NETWORKS[name].is_classifier else 0
    limit = DIRECT[name, core] * (1 + OVER_DIRECT) + allowance
    # The default, where it makes no difference: one linear layer with a few outputs.
    linear_weights = "per-channel" if NETWORKS[name].is_classifier else "per-tensor"
    assert inference(name, core, linear_weights) <= limit


@pytest.mark.parametrize("core", PER_CHANNEL)
def test_cost_of_linear_weights_per_channel(core):
    limit = DIRECT["autoencoder", core] * (1 + PER_CHANNEL[core])
    assert inference("autoencoder", core, "per-channel") <= limit


@pytest.mark.parametrize("name, preset, core", FORMATS)
def test_what_formats_take_next_to_int8(name, preset, core):
    """Of the same layers, because only int8 has constant channels to leave out."""
    ratio, flash, arena = FORMATS[name, preset, core]
    int8, found = (encode(in_format(name, of)[0], get_target(core)) for of in ("minmax", preset))
    payload = len(found.payload) / len(int8.payload)
    assert payload <= flash
    assert found.plan.arena_bytes <= arena
    if "tuned" not in KERNELS["kernels"]:
        pytest.skip(f"the image has other kernels: {KERNELS['reason']}")
    counts = [instructions_in_format(name, of, core) for of in ("minmax", preset)]
    print(f"{name} in {preset} on {core}: {counts[1]:,}, {counts[1] / counts[0]:.3f} of int8; payload {payload:.3f}")
    assert counts[1] <= ratio * counts[0]
