"""Normalizations as PyTorch writes them: each is one kernel call, within a step of the quantized module."""

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.compile import compile_model
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


def test_lengths_and_angles():
    """Siamese networks compare two vectors. Lengths have the noise of their own rounding, and not that of squares."""
    functions = {
        "cosine": F.cosine_similarity,
        "cosine of all pairs": lambda a, b: F.cosine_similarity(a[:, None], b[None], dim=-1),
        "cosine of columns": lambda a, b: F.cosine_similarity(a, b, dim=0),
        "distance": F.pairwise_distance,
        "distance, kept": lambda a, b: F.pairwise_distance(a, b, p=2.0, keepdim=True),
        "distance of all pairs": lambda a, b: torch.cdist(a[None], b[None]),
        "length": lambda a, b: torch.linalg.vector_norm(a - b, dim=0),
        "sum": lambda a, b: F.pairwise_distance(a, b, p=1),
        "largest": lambda a, b: F.pairwise_distance(a, b, p=float("inf")),
    }
    inputs = torch.randn(5, 8), torch.cat([torch.randn(4, 8), torch.zeros(1, 8)])
    branches = {name: Branch(Function(f), tuple(x.clone() for x in inputs)) for name, f in functions.items()}
    found = branches_apart(branches)
    for name in functions:
        assert found[name].distance <= 2, name
        ops = {"cosine": ["normalize", "normalize"], "distance": ["add", "normalize"]}.get(name)
        assert ops is None or found[name].ops == ["quantize", "quantize", *ops, "batch_matmul", "dequantize"], name


@pytest.mark.parametrize("function", [F.cosine_similarity, F.pairwise_distance])
def test_lengths_are_close_to_float(function):
    class Siamese(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(nn.Linear(12, 16), nn.ReLU(), nn.Linear(16, 8))

        def forward(self, a, b):
            return function(self.layers(a), self.layers(b))

    module = Siamese()
    samples = [(torch.randn(4, 12), torch.randn(4, 12)) for _ in range(16)]
    compiled = compile_model(module, samples[0], "cortex-m4", samples)
    results = [reference.run(compiled.graph, [x.numpy() for x in sample])[0] for sample in samples]
    wanted = [module(*sample).detach().numpy() for sample in samples]
    assert np.square(np.subtract(results, wanted)).sum() < 1e-3 * np.square(wanted).sum()  # 30 dB


def test_quotients_with_other_lengths():
    functions = {
        "p": lambda x: F.normalize(x, p=1.0, dim=1),
        "eps": lambda x: F.normalize(x, dim=1, eps=0.5),
        "of others": lambda x: x / (2 * x).norm(dim=1, keepdim=True),
    }
    found = branches_apart({name: branch(2, 5, 4, function=function) for name, function in functions.items()})
    assert max(apart.distance for apart in found.values()) <= 1


def test_lengths_over_two_dimensions_are_refused_by_name():
    two = branch(2, 5, 4, function=lambda x: x / x.norm(dim=(1, 2), keepdim=True))
    reports = reports_of_branches({"": two})[""]
    (report,) = [report for report in reports if report.function_target == "aten.linalg_vector_norm.default"]
    assert "F.normalize(x, dim=...) with p=2" in report.message


def test_weights_from_outside_are_refused():
    module = Function(lambda x, w: F.layer_norm(x, (5,), w))
    reports = reports_of_branches({"": Branch(module, (torch.randn(2, 4, 5), torch.randn(5)))})[""]
    (report,) = [report for report in reports if not report.delegated]
    assert report.reason is Reason.UNSUPPORTED_PARAMETER and "weight or bias is not constant" in report.message
