"""Equalization: the float model stays what it is, and its channels get similar ranges."""

import pytest
import torch
from torch import nn

from cmsis_nn_delegate.quantization.configuration import QuantizationConfig
from cmsis_nn_delegate.quantization.equalization import equalize
from cmsis_nn_delegate.quantization.prepare import quantizable_module
from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer
from cmsis_nn_delegate.testing.lowering import quantized

aten = torch.ops.aten
IMAGE = torch.randn(2, 3, 8, 8, generator=torch.Generator().manual_seed(0))


def planted(*layers, seed=0):
    """The layers one after the other; output channels have sizes from 1/64 to 64, which the next layer takes back."""
    torch.manual_seed(seed)
    model = nn.Sequential(*layers).eval()
    weighted = [layer for layer in layers if hasattr(layer, "weight")]
    with torch.no_grad():
        for first, second in zip(weighted, weighted[1:]):
            sizes = 2 ** torch.empty(len(first.weight)).uniform_(-6, 6)
            first.weight *= sizes.reshape(-1, *[1] * (first.weight.dim() - 1))
            if first.bias is not None:
                first.bias *= sizes
            groups = getattr(second, "groups", 1)
            per_group = second.weight.view(groups, -1, second.weight.shape[1], second.weight[0, 0].numel())
            per_group /= sizes.reshape(groups, 1, -1, 1)
    return model


MODELS = {
    "convolutions": (
        lambda: planted(
            nn.Conv2d(3, 8, 3), nn.ReLU(), nn.Conv2d(8, 6, 3, bias=False), nn.LeakyReLU(), nn.Conv2d(6, 4, 1)
        ),
        IMAGE,
    ),
    "depthwise": (
        lambda: planted(
            nn.Conv2d(3, 8, 1), nn.ReLU(), nn.Conv2d(8, 16, 3, groups=8), nn.ReLU(), nn.Conv2d(16, 4, 1, groups=2)
        ),
        IMAGE,
    ),
    "linear": (lambda: planted(nn.Linear(8, 6), nn.ReLU(), nn.Linear(6, 5, bias=False), nn.Linear(5, 4)), IMAGE),
}


def module_of(model, x):
    return quantizable_module(torch.export.export(model, (x,)))


def layers_of(module):
    targets = (aten.conv2d.default, aten.linear.default)
    return [getattr(module, node.args[1].target) for node in module.graph.nodes if node.target in targets]


@pytest.mark.parametrize("name", MODELS)
def test_the_float_model_computes_the_same_bits_with_even_channels(name):
    make, x = MODELS[name]
    model = make()
    before = {key: value.clone() for key, value in model.state_dict().items()}
    with torch.no_grad():
        wanted = model(x)
        module = module_of(model, x)
        equalize(module)
        assert torch.equal(module(x), wanted)
    first, *_ = layers_of(module)
    uneven, even = (weight.detach().abs().flatten(1).amax(1) for weight in (model[0].weight, first))
    assert uneven.max() / uneven.min() > 64 > 8 > even.max() / even.min()
    assert all(torch.equal(value, before[key]) for key, value in model.state_dict().items())


def unchanged(model, x, **options):
    module = module_of(model, x)
    before = [node.args[1].target for node in module.graph.nodes if node.target is aten.conv2d.default]
    equalize(module, **options)
    return before == [node.args[1].target for node in module.graph.nodes if node.target is aten.conv2d.default]


class Read(nn.Module):
    """Layers that must stay: read twice, shared, or behind another function."""

    def __init__(self, form):
        super().__init__()
        self.form = form
        self.a, self.b = nn.Conv2d(3, 3, 1), nn.Conv2d(3, 3, 1)

    def forward(self, x):
        y = self.a(x)
        return {
            "read twice": lambda: self.b(y) + y,
            "shared": lambda: self.a(torch.relu(y)),
            "sigmoid": lambda: self.b(torch.sigmoid(y)),
            "relu6": lambda: self.b(nn.functional.relu6(y)),
            "input": lambda: self.b(y.relu() + x),
        }[self.form]()


@pytest.mark.parametrize("form", ["read twice", "shared", "sigmoid", "relu6", "input"])
def test_layers_that_others_depend_on_stay(form):
    assert unchanged(Read(form).eval(), IMAGE)


def test_relu6_becomes_relu_if_that_is_asked_for():
    model = planted(nn.Conv2d(3, 8, 3), nn.ReLU6(), nn.Conv2d(8, 4, 1))
    with torch.no_grad():
        model[0].weight *= 0.01
        model[0].bias *= 0.01
        model[0].weight.clamp_(-0.1, 0.1)  # below 6
        wanted = model(IMAGE)
        module = module_of(model, IMAGE)
        equalize(module, relu6=True)
        assert torch.equal(module(IMAGE), wanted)
    assert [n.target for n in module.graph.nodes if "relu" in n.name or "hardtanh" in n.name] == [aten.relu.default]


def test_quantization_gains():
    """With one scale for all weights of a layer: more than 10 dB."""
    model = MODELS["depthwise"][0]()
    with torch.no_grad():
        wanted = model(IMAGE)
        errors = []
        for equalization in (None, "relu"):
            quantizer = CmsisNnQuantizer("minmax", equalization=equalization)
            got = quantized(model, IMAGE, quantizer=quantizer.set_global(QuantizationConfig(weights="per-tensor")))(
                IMAGE
            )
            errors.append(float((got - wanted).square().mean()))
    assert errors[1] < errors[0] / 10
