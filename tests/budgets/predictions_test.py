"""Compares the instructions that the compiler predicts with those that simulated cores execute.

The predictions are in reports, judge `--max-instructions`, choose bands of rows, and decide where Winograd's algorithm
is worth its flash. The models were fitted to calls of these networks too, with trained weights: these tests show that
kernels, features and table belong together. `accuracy` in the table has errors for networks that a fit has not seen.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cmsis_nn_delegate.ops import fully_connected_groups
from cmsis_nn_delegate.ops.attrs import Clamp, Padding
from cmsis_nn_delegate.payload.encode import encode_planned
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.providers.registry import DEFAULT, PORTABLE, TUNED
from cmsis_nn_delegate.report.model_report import build_report
from cmsis_nn_delegate.runner.profile import measure, random_inputs
from cmsis_nn_delegate.selection.bands import compute_in_bands
from cmsis_nn_delegate.selection.choose_kernels import choose_kernels, legalize
from cmsis_nn_delegate.selection.costs import costs
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.selection.planned import plan
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing import networks
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder
from cmsis_nn_delegate.testing.random_case import RandomCase

NETWORKS = {
    "autoencoder": networks.autoencoder,
    "ds_cnn": networks.ds_cnn,
    "mobilenet_v1_025": networks.mobilenet_v1_025,
    "resnet8": networks.resnet8,
}
CORES = ("cortex-m0plus", "cortex-m4", "cortex-m55")
# Priced as M4 and M55; the table has their own errors.
ALIKE = ("cortex-m7", "cortex-m33", "cortex-m85")
# Those that the images have: without CMSIS-NN, other kernels compute what they were not predicted for.
KERNELS = json.loads(Path("runtime/kernels/selected.json").read_text())
PROVIDERS = DEFAULT if KERNELS["with_cmsis_nn"] else (TUNED, PORTABLE)
BANDS = 0.03  # of all instructions, where bands are single rows
WINOGRAD = 0.05  # of its prediction, and that of the kernel in its place


def profile_of(graph, core, **options):
    """Returns the report and the profile of a graph, which has the calls in the same order."""
    return measured(encode(graph, get_target(core), PayloadOptions(providers=PROVIDERS, **options)), graph, core)


def measured(encoded, graph, core):
    report = build_report("net", encoded)
    image = f"runtime/{core.replace('-', '_')}_profile.elf"
    return report, measure(report, encoded.payload, random_inputs(graph), image)


@pytest.mark.parametrize("core", CORES + ALIKE)
@pytest.mark.parametrize("name", NETWORKS)
def test_networks_take_what_is_predicted(name, core):
    report, profile = profile_of(NETWORKS[name](), core)
    counted = sum(call.instructions for call in profile.calls)
    error = report.prediction.instructions / counted - 1
    print(f"{name} on {core}: {report.prediction.instructions:,} predicted, {counted:,} counted, {error:+.1%}")
    assert abs(error) <= costs().accuracy_of(core, [provider.name for provider in DEFAULT]).largest_error
    # What the prediction leaves out.
    assert profile.executor <= 0.02 * profile.inference


@pytest.mark.parametrize("core", CORES)
@pytest.mark.parametrize("group, tuned", [(32, True), (20, False)])
def test_linear_layers_with_groups_take_what_is_predicted(group, tuned, core):
    """No network of those above has them."""
    d = RandomCase(0)
    graph = d.graph(fully_connected_groups.grouped(d, group, 8, 40))
    report, profile = profile_of(graph, core)
    (call,), (counted,) = report.calls, (call.instructions for call in profile.calls)
    assert (call.provider == "tuned") is (tuned and core != "cortex-m0plus")
    error = call.predicted_instructions / counted - 1
    print(f"{call.kernel} on {core}: {call.predicted_instructions:,} predicted, {counted:,} counted, {error:+.1%}")
    assert abs(error) <= costs().accuracy_of(core, [provider.name for provider in DEFAULT]).largest_error


@pytest.mark.parametrize("core", ["cortex-m4", "cortex-m55"])
def test_bands_cost_what_is_predicted(core):
    """The limit of the slowdown is judged by a difference of two predictions."""
    builder = GraphBuilder()
    wide = builder.conv2d(builder.conv2d(builder.input(1, 3, 24, 24), 8, (1, 1)), 24, (1, 1))
    narrow = builder.depthwise_conv2d(wide, 1, kernel=(3, 3), stride=(2, 2), padding=Padding(1, 1, 1, 1))
    graph = builder.graph(builder.conv2d(narrow, 8, (1, 1)))
    whole = choose_kernels(legalize(graph, PayloadOptions(providers=PROVIDERS, max_slowdown=50)), get_target(core))
    banded = compute_in_bands(whole)
    assert len(banded.choices) > len(whole.choices)
    predicted, counted = [], []
    for chosen in (whole, banded):
        encoded = encode_planned(plan(chosen))
        report, profile = measured(encoded, chosen.graph, core)
        predicted.append(report.prediction.instructions)
        counted.append(sum(call.instructions for call in profile.calls))
    print(f"{core}: {predicted} predicted, {counted} counted")
    assert predicted[1] / predicted[0] == pytest.approx(counted[1] / counted[0], abs=BANDS)


def convolution(size: int, inputs: int, outputs: int):
    """Returns a convolution of 3 x 3 taps of a square image."""
    builder = GraphBuilder()
    x = builder.input(1, inputs, size, size)
    return builder.graph(builder.conv2d(x, outputs, (3, 3), (1, 1), Padding(1, 1, 1, 1), clamp=Clamp(0.0)))


@pytest.mark.parametrize("size, inputs, outputs", [(16, 32, 32), (8, 64, 64), (10, 16, 12)])
def test_winograd_is_predicted_and_chosen_where_it_is_faster(size, inputs, outputs):
    counts = {}
    for max_flash_growth in (1 << 20, 0):
        report, profile = profile_of(convolution(size, inputs, outputs), "cortex-m4", max_flash_growth=max_flash_growth)
        (call,), (counted,) = report.calls, (call.instructions for call in profile.calls)
        assert call.predicted_instructions == pytest.approx(counted, rel=WINOGRAD)
        counts[call.kernel] = counted
    assert list(counts) == ["conv2d_winograd", "conv2d_joint_pairs"]
    assert counts["conv2d_winograd"] < counts["conv2d_joint_pairs"]
