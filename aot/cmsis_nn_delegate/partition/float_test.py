"""Lowered networks next to the float modules they come from: what goes wrong before conversion, in
folding or annotation, is invisible to a comparison with the quantized module."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from cmsis_nn_delegate.partition.quantized_io import io_quants
from cmsis_nn_delegate.reference import run
from cmsis_nn_delegate.testing.lowering import Function, lowered


def norm(kind, channels):
    layer = kind(channels)
    layer.running_mean.uniform_(-0.5, 0.5)
    layer.running_var.uniform_(0.2, 0.4)
    nn.init.uniform_(layer.weight, 1, 2)
    nn.init.uniform_(layer.bias, -1, 1)
    return layer


def residual():
    c, b = nn.Conv2d(4, 4, 3, padding=1), norm(nn.BatchNorm2d, 4)
    return Function(lambda x: F.relu(b(c(x)) + x), c=c, b=b)


def normed_and_raw():
    c, b = nn.Conv2d(4, 4, 3), norm(nn.BatchNorm2d, 4)

    def f(x):
        y = c(x)
        return b(y) + y

    return Function(f, c=c, b=b)


def shared_layer():
    c, a, b = nn.Conv2d(4, 4, 3), norm(nn.BatchNorm2d, 4), norm(nn.BatchNorm2d, 4)
    return Function(lambda x: (F.relu(a(c(x))), b(c(x))), c=c, a=a, b=b)


def separable():
    return nn.Sequential(
        nn.Conv2d(4, 4, 3, padding=2, groups=4, bias=False),
        norm(nn.BatchNorm2d, 4),
        nn.ReLU6(),
        nn.Conv2d(4, 6, 1),
        norm(nn.BatchNorm2d, 6),
    )


def head():
    return nn.Sequential(nn.AvgPool2d(2), nn.Flatten(), nn.Linear(36, 5), norm(nn.BatchNorm1d, 5), nn.Softmax(1))


@pytest.mark.parametrize("make", [residual, normed_and_raw, shared_layer, separable, head])
def test_results_are_close_to_the_float_module(make):
    torch.manual_seed(3)
    module, x = make().eval(), torch.randn(2, 4, 6, 6)
    with torch.no_grad():
        wanted = module(x)
    wanted = [wanted] if isinstance(wanted, torch.Tensor) else list(wanted)
    result = lowered(module, x)
    got = run(result.graph(), [x.numpy()])
    _, quants = io_quants(result.program)
    for index, want, quant in zip(result.output_indices, wanted, quants):
        steps = np.abs(got[index] - want.numpy()) / quant.scale[0]
        assert steps.max() <= 6 and steps.mean() <= 2
