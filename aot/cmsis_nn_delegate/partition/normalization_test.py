"""Normalizations as PyTorch writes them: each is one kernel call, within a step of the quantized module."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from cmsis_nn_delegate.edge.refusal import Reason
from cmsis_nn_delegate.testing.lowering import Branch, Function, branches_apart, reports_of_branches


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(5)


def randomized(module):
    for parameter in module.parameters():
        nn.init.uniform_(parameter, -1, 1.5)
    return module


def branch(*shape, layers=(), function=None):
    module = Function(function) if function else nn.Sequential(*map(randomized, layers))
    return Branch(module, (2 * torch.randn(shape) + 0.5,))


def test_each_is_one_call():
    plain = {
        "layer": branch(2, 5, 8, layers=[nn.LayerNorm(8)]),
        "layer without bias": branch(2, 5, 8, layers=[nn.LayerNorm((5, 8), bias=False)]),
        "layer of images": branch(2, 3, 4, 6, layers=[nn.LayerNorm(6, elementwise_affine=False), nn.ReLU()]),
        "layer as a function": branch(3, 7, function=lambda x: F.layer_norm(x, (7,), eps=1e-3)),
        "groups": branch(2, 8, 4, 3, layers=[nn.GroupNorm(2, 8)]),
        "groups of vectors": branch(2, 8, layers=[nn.GroupNorm(2, 8, affine=False)]),
        "instances": branch(2, 8, 4, 3, layers=[nn.InstanceNorm2d(8, affine=True), nn.ReLU6()]),
        "instances of sequences": branch(2, 8, 7, layers=[nn.InstanceNorm1d(8)]),
        "root mean square": branch(2, 5, 8, layers=[nn.RMSNorm(8)]),
        "root mean square with eps": branch(2, 5, 8, layers=[nn.RMSNorm((5, 8), 1e-3, elementwise_affine=False)]),
    }
    between = branch(1, 3, 6, 6, layers=[nn.Conv2d(3, 8, 3), nn.GroupNorm(4, 8), nn.ReLU(), nn.Conv2d(8, 2, 1)])
    tracked = branch(2, 4, 3, 5, layers=[nn.InstanceNorm2d(4, affine=True, track_running_stats=True)])
    found = branches_apart({**plain, "between convolutions": between, "running statistics": tracked})
    for name in plain:
        assert found[name].distance <= 1, name
        assert found[name].ops == ["quantize", "normalize", "dequantize"], name
    assert found["between convolutions"].ops == ["quantize", "conv2d", "normalize", "conv2d", "dequantize"]
    assert found["between convolutions"].distance <= 2  # each layer one
    assert found["running statistics"].ops == ["quantize", "depthwise_conv2d", "dequantize"]
    assert found["running statistics"].distance <= 1


def test_weights_from_outside_are_refused():
    module = Function(lambda x, w: F.layer_norm(x, (5,), w))
    reports = reports_of_branches({"": Branch(module, (torch.randn(2, 4, 5), torch.randn(5)))})[""]
    (report,) = [report for report in reports if not report.delegated]
    assert report.reason is Reason.UNSUPPORTED_PARAMETER and "weight or bias is not constant" in report.message
