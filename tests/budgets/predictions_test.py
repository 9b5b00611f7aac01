"""Compares the instructions that the compiler predicts for kernels with those that a simulated Cortex-M4 executes.

The predictions decide where Winograd's algorithm is worth its flash (`TunedKernel.instructions`).
"""

from __future__ import annotations

import pytest

from cmsis_nn_delegate.ops.attrs import Clamp, Padding
from cmsis_nn_delegate.ops.graph_builder import GraphBuilder
from cmsis_nn_delegate.ops.tuned.registry import TUNED_KERNELS
from cmsis_nn_delegate.payload.encode import encode
from cmsis_nn_delegate.payload.report.model_report import build_report
from cmsis_nn_delegate.runner.profile import measure, random_inputs
from cmsis_nn_delegate.target import get_target

IMAGE = "runtime/cortex_m4_profile.elf"
KERNELS = {kernel.name: kernel for kernel in TUNED_KERNELS}
ERROR = 0.06  # of Winograd's prediction; 0.01 for images of 10 x 10 outputs and more


def predicted_and_counted(size: int, inputs: int, outputs: int, max_flash_growth: int) -> tuple[str, int, int]:
    """Returns the kernel of a 3x3 convolution of a square image, its predicted and its counted instructions."""
    builder = GraphBuilder()
    x = builder.input(1, inputs, size, size)
    graph = builder.graph(builder.conv2d(x, outputs, (3, 3), (1, 1), Padding(1, 1, 1, 1), clamp=Clamp(0.0)))
    encoded = encode(graph, get_target("cortex-m4"), max_flash_growth=max_flash_growth)
    (call,) = encoded.calls
    kernel = KERNELS[call.choice.kernel.name]
    profile = measure(build_report("net", encoded), encoded.payload, random_inputs(graph), IMAGE)
    return kernel.name, kernel.instructions(call.node), profile.calls[0].instructions


@pytest.mark.parametrize("size, inputs, outputs", [(16, 32, 32), (8, 64, 64), (9, 16, 12)])
def test_winograd_is_predicted_and_chosen_where_it_is_faster(size, inputs, outputs):
    name, predicted, counted = predicted_and_counted(size, inputs, outputs, 1 << 20)
    assert name == "conv2d_winograd" and abs(predicted / counted - 1) <= ERROR
    name, predicted, without = predicted_and_counted(size, inputs, outputs, 0)
    # Too low a prediction of the other kernel only keeps Winograd's from being chosen.
    assert name == "conv2d_pairs" and predicted <= without and counted < without
