"""Transposed convolutions: all parameters, next to the quantized module in PyTorch."""

import random

import pytest
import torch
from torch import nn

from cmsis_nn_delegate.ops.registry import OPS
from cmsis_nn_delegate.testing.lowering import Branch, branches_apart


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(1)


def layer(draw):
    """(module, input) with any parameters; None if it would have no output."""
    kernel, stride, gaps = ((draw.randint(1, 4), draw.randint(1, 4)) for _ in range(3))
    dilation = draw.choice([(1, 1), (1, 1), gaps])
    groups = draw.choice([1, 1, 2, 4])
    padding = tuple(draw.randint(0, (k - 1) * d) for k, d in zip(kernel, dilation))
    extra = tuple(draw.randint(0, max(s, d) - 1) for s, d in zip(stride, dilation))
    outputs = groups * draw.randint(1, 2)
    first = nn.ConvTranspose2d(4, outputs, kernel, stride, padding, extra, groups, draw.random() < 0.5, dilation)
    norm = nn.BatchNorm2d(outputs)
    norm.running_var.uniform_(0.5, 2)
    module = nn.Sequential(first, *draw.choice([[], [nn.ReLU()], [norm, nn.ReLU6()]]))
    x = torch.randn(draw.randint(1, 2), 4, draw.randint(3, 5), draw.randint(3, 5))
    try:
        module.eval()(x)
    except RuntimeError:
        return None
    return Branch(module, (x,))


def test_any_parameters():
    """Many at once, because lowering takes its time."""
    draw = random.Random(0)
    branches = {}
    while len(branches) < 18:
        branch = layer(draw)
        if branch:
            branches[f"{len(branches)}: {branch.module}, {list(branch.inputs[0].shape)}"] = branch
    apart = branches_apart(branches)
    assert {name: result.distance for name, result in apart.items() if result.distance > 1} == {}
    assert {len(result.ops) for result in apart.values()} == {3}


KERNELS = {
    # By the parameters of layers: what computes them.
    "upsampling by 2": (nn.ConvTranspose2d(4, 6, 2, 2), "transpose_conv2d"),
    "a filter of 3": (nn.ConvTranspose2d(4, 6, 3, 2, 1, 1), "transpose_conv2d"),
    "a filter of 4": (nn.ConvTranspose2d(4, 6, 4, 2, 1), "transpose_conv2d"),
    "depthwise": (nn.ConvTranspose2d(4, 4, 4, 2, 1, groups=4), "transpose_conv2d_any"),
    "dilated": (nn.ConvTranspose2d(4, 4, 3, 2, 1, dilation=2), "transpose_conv2d_any"),
    "a stride larger than the filter": (nn.ConvTranspose2d(4, 4, 2, 3, output_padding=1), "transpose_conv2d_any"),
    "stride 1": (nn.ConvTranspose2d(4, 6, 3, padding=1), "conv2d"),
    "stride 1, depthwise": (nn.ConvTranspose2d(4, 8, 3, groups=4), "depthwise_conv2d"),
    "one dimension": (nn.ConvTranspose1d(4, 6, 4, 2, 1), "transpose_conv2d"),
}


def test_what_computes_a_layer():
    """CMSIS-NN's function, where it is right or a few zeros make it right; convolutions for stride 1."""
    branches = {
        name: Branch(nn.Sequential(layer, nn.ReLU()), (torch.randn(1, 4, *(5, 6)[: layer.weight.dim() - 2]),))
        for name, (layer, _) in KERNELS.items()
    }
    apart = branches_apart(branches)
    for name, (_, kernel) in KERNELS.items():
        result = apart[name]
        assert result.distance <= 1, name
        last = result.graph.producer(result.graph.producer(result.output).inputs[0])
        assert OPS[last.op].kernel_of(last).name == kernel, name
