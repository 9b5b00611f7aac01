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


def test_vectors_of_length_one():
    """What torch writes for them is one RMS norm, whose epsilon vanishes next to what int8 can tell from zero."""
    vectors = {
        "rows": branch(3, 9, function=F.normalize),
        "rows of a sequence": branch(2, 5, 8, function=lambda x: F.normalize(x, dim=-1)),
        "written out": branch(3, 7, function=lambda x: x / x.norm(dim=-1, keepdim=True)),
        "of linalg": branch(3, 7, function=lambda x: x / torch.linalg.norm(x, dim=1, keepdim=True).clamp(1e-6)),
    }
    channels = branch(2, 6, 3, 4, function=F.normalize)
    zeros = Branch(Function(F.normalize), (torch.cat([torch.zeros(2, 8), torch.randn(2, 8)]),))
    found = branches_apart({**vectors, "channels": channels, "with rows of zeros": zeros})
    for name in vectors:
        assert found[name].distance <= 1, name
        assert found[name].ops == ["quantize", "normalize", "dequantize"], name
    assert found["channels"].distance <= 1 and "normalize" in found["channels"].ops
    assert found["with rows of zeros"].distance <= 1


def test_other_lengths_are_refused_by_name():
    functions = {
        "p": lambda x: F.normalize(x, p=1.0, dim=1),
        "eps": lambda x: F.normalize(x, dim=1, eps=0.5),
        "of others": lambda x: x / (2 * x).norm(dim=1, keepdim=True),
        "two dimensions": lambda x: x / x.norm(dim=(1, 2), keepdim=True),
    }
    for name, reports in reports_of_branches({n: branch(2, 5, 4, function=f) for n, f in functions.items()}).items():
        (report,) = [r for r in reports if r.function_target == "aten.linalg_vector_norm.default"]
        assert "F.normalize(x, dim=...) with p=2" in report.message, name


def test_weights_from_outside_are_refused():
    module = Function(lambda x, w: F.layer_norm(x, (5,), w))
    reports = reports_of_branches({"": Branch(module, (torch.randn(2, 4, 5), torch.randn(5)))})[""]
    (report,) = [report for report in reports if not report.delegated]
    assert report.reason is Reason.UNSUPPORTED_PARAMETER and "weight or bias is not constant" in report.message
