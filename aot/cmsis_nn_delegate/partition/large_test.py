"""Layers beyond the sizes that CMSIS-NN counts in 16 bits: one delegate each, and the same integers."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing.lowering import Branch, Function, branches_apart, lowered

LONG = (1, 100_000)
# name: (module, shapes of its inputs, its kernel)
LARGE = {
    "linear of many inputs": (nn.Linear(40_000, 10), [(1, 40_000)], "fully_connected"),
    "linear of many outputs": (nn.Linear(16, 40_000), [(1, 16)], "fully_connected"),
    "linear of many rows": (nn.Linear(4, 3), [(200, 200, 4)], "fully_connected"),
    "pointwise convolution of many channels": (nn.Conv2d(40_000, 2, 1), [(1, 40_000, 1, 2)], "conv2d"),
    "pointwise convolution to many channels": (nn.Conv2d(2, 40_000, 1), [(1, 2, 1, 2)], "conv2d"),
    "convolution of a long row": (nn.Conv1d(1, 2, 5, stride=2, padding=2), [(1, 1, 48_001)], "conv2d"),
    "convolution of a longer row": (nn.Conv1d(1, 2, 80, stride=40), [(1, 1, 80_000)], "conv2d"),
    "convolution with a large filter": (nn.Conv2d(1200, 2, 8, padding=1), [(1, 1200, 7, 7)], "conv2d"),
    "depthwise convolution of a long row": (nn.Conv1d(3, 3, 5, padding=2, groups=3), [(1, 3, 33_000)], "conv2d"),
    "convolution that padding makes higher": (nn.Conv2d(8192, 1, (1, 5), padding=(1, 0)), [(1, 8192, 1, 8)], "conv2d"),
    "depthwise windows far from the image": (nn.Conv2d(4, 4, 1, 100, 300, groups=4), [(1, 4, 6, 6)], "conv2d"),
    "transposed convolution to a long row": (nn.ConvTranspose1d(2, 1, 4, 2), [(1, 2, 20_000)], "transpose_conv2d"),
    "sum": (torch.add, [LONG, LONG], "add"),
    "product": (torch.mul, [LONG, LONG], "mul"),
    "product with a number per row": (torch.mul, [(2, 50_000), (2, 1)], "mul"),
    "function": (torch.tanh, [LONG], "lookup"),
    "limit": (F.relu, [LONG], "max_pool2d"),
    "mean": (lambda x: x.mean(1), [(1, 70_000)], "reduce_sum"),
    "softmax": (lambda x: x.softmax(-1), [(1, 40_000)], "softmax"),
    "average of a long row": (lambda x: F.avg_pool1d(x, 40_000), [(1, 2, 80_000)], "avg_pool2d"),
    "maximum of a long row": (lambda x: F.max_pool1d(x, 4), [(1, 2, 70_000)], "max_pool2d"),
    "product of matrices of many rows": (torch.matmul, [(40_000, 3), (3, 2)], "batch_matmul"),
    "concatenation": (lambda a, b: torch.cat([a, b], 1) * 0.5, [(1, 40_000), (1, 40_000)], "lookup"),
}


def as_module(f):
    return f if isinstance(f, nn.Module) else Function(f)


@pytest.fixture(scope="module")
def found():
    torch.manual_seed(7)
    return branches_apart(
        {
            name: Branch(as_module(f), tuple(torch.randn(shape) for shape in shapes))
            for name, (f, shapes, _) in LARGE.items()
        }
    )


@pytest.mark.parametrize("name", LARGE)
def test_large_layers_are_taken_whole(found, name):
    assert found[name].distance <= 1
    assert LARGE[name][2] in found[name].ops


def test_sums_that_exceed_32_bits_are_refused():
    layer = nn.Linear(140_000, 1)
    nn.init.constant_(layer.weight, 1e-3)
    with pytest.raises(ValueError, match="sums of 140000 products may exceed 32 bits"):
        lowered(layer, torch.rand(1, 140_000))


def test_large_layers_can_be_encoded(found):
    for graph in {id(apart.graph): apart.graph for apart in found.values()}.values():
        encode(graph, get_target("cortex-m4"))
