"""Networks of sequences [N, C, L] and of volumes [N, C, D, H, W], and batch norms without a layer before them, become
one delegate call; those of sequences without transposes between their layers."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from cmsis_nn_delegate.testing.lowering import Branch, Function, branches_apart, steps_apart


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(1)


def randomized(module):
    """`module` with batch norms far from the identity."""
    for norm in module.modules():
        if isinstance(norm, (nn.BatchNorm1d, nn.BatchNorm2d, nn.BatchNorm3d)):
            norm.running_mean.uniform_(-1, 1)
            norm.running_var.uniform_(0.5, 4)
            if norm.affine:
                nn.init.uniform_(norm.weight, -1, 2)
                nn.init.uniform_(norm.bias, -1, 1)
    return module


def m5(channels=8):
    """ "Very deep convolutional neural networks for raw waveforms", smaller."""

    def block(inputs, outputs, kernel, stride=1):
        return nn.Conv1d(inputs, outputs, kernel, stride), nn.BatchNorm1d(outputs), nn.ReLU(), nn.MaxPool1d(4)

    blocks = [*block(1, channels, 20, 4), *block(channels, channels, 3), *block(channels, 2 * channels, 3)]
    return nn.Sequential(*blocks, nn.AdaptiveAvgPool1d(1), nn.Flatten(), nn.Linear(2 * channels, 5))


class Residual(nn.Module):
    """A block of a temporal convolutional network; `crop` pads both ends and cuts the end off."""

    def __init__(self, inputs, outputs, dilation, crop):
        super().__init__()
        self.excess = 2 * dilation
        self.crop = crop
        options = {"dilation": dilation, "padding": self.excess if crop else 0}
        self.first = nn.Conv1d(inputs, outputs, 3, **options)
        self.second = nn.Conv1d(outputs, outputs, 3, **options)
        self.skip = nn.Conv1d(inputs, outputs, 1) if inputs != outputs else nn.Identity()

    def causal(self, layer, x):
        if self.crop:
            return F.relu(layer(x)[:, :, : -self.excess].contiguous())
        return F.relu(layer(F.pad(x, (self.excess, 0))))

    def forward(self, x):
        return F.relu(self.causal(self.second, self.causal(self.first, x)) + self.skip(x))


def tcn(crop):
    blocks = nn.Sequential(Residual(3, 6, 1, crop), Residual(6, 6, 2, crop))
    linear = nn.Linear(6, 4)
    return Function(lambda x: linear(blocks(x).mean(-1)), blocks=blocks, linear=linear)


TCN = "quantize conv2d conv2d conv2d add conv2d conv2d add reduce_sum fully_connected dequantize"


def few_layers():
    """By name: (module, its inputs, operators besides those at the border)."""
    x = torch.randn(2, 4, 14)
    conv, norm = nn.Conv1d, nn.BatchNorm1d
    two = nn.Sequential(conv(4, 6, 3), nn.ReLU(), conv(6, 4, 3))
    norms = nn.ModuleList([norm(4), norm(4)])
    return {
        "strided": (conv(4, 5, 3, 2, padding=1, bias=False), x, "conv2d"),
        "depthwise": (conv(4, 8, 3, groups=4, padding="same"), x, "depthwise_conv2d"),
        "grouped": (conv(4, 6, 2, groups=2, dilation=3), x, "conv2d"),
        "pads": (Function(lambda x: two(F.pad(x, (2, 1))), two=two), x, "conv2d conv2d"),
        "average": (nn.AvgPool1d(3, 2), x, "avg_pool2d"),
        "adaptive average": (nn.AdaptiveAvgPool1d(7), x, "avg_pool2d"),
        "maximum": (nn.MaxPool1d(3, 2, 1, ceil_mode=True), x, "max_pool2d"),
        "kept mean": (Function(lambda x: two(x).mean(-1, keepdim=True), two=two), x, "conv2d conv2d reduce_sum"),
        "norm of vectors": (nn.Sequential(norm(4), nn.ReLU6()), torch.randn(3, 4), "depthwise_conv2d"),
        "norm of sequences": (norm(4, affine=False), x, "depthwise_conv2d"),
        "norm of one channel": (nn.BatchNorm2d(1), torch.randn(1, 1, 4, 5), "conv2d"),
        "norms around a sum": (
            Function(lambda x: norms[1](F.relu(norms[0](x)) + x), norms=norms),
            x,
            "depthwise_conv2d add depthwise_conv2d",
        ),
        "norm after pooling": (
            nn.Sequential(nn.MaxPool2d(2), nn.BatchNorm2d(3)),
            torch.randn(1, 3, 6, 6),
            "max_pool2d depthwise_conv2d",
        ),
    }


def test_few_layers():
    cases = few_layers()
    branches = {name: Branch(randomized(module), (x.clone(),)) for name, (module, x, _) in cases.items()}
    found = branches_apart(branches)
    assert {name: apart.distance for name, apart in found.items() if apart.distance > 1} == {}
    ops = {name: " ".join(apart.ops) for name, apart in found.items()}
    assert ops == {name: f"quantize {expected} dequantize" for name, (_, _, expected) in cases.items()}


class Alone(nn.Module):
    """The first of a batch."""

    def forward(self, x):
        return x[0]


def volumes():
    """By name: (module of [2, 4, 5, 6, 7], operators that compute)."""
    conv, back = nn.Conv3d, nn.ConvTranspose3d
    return {
        "convolution": (conv(4, 5, 3, padding=1), "conv2d"),
        "strides": (conv(4, 5, (2, 3, 1), stride=(2, 1, 3), bias=False), "conv2d"),
        "gaps": (conv(4, 5, (3, 2, 2), dilation=(2, 1, 3), padding=(1, 0, 2)), "conv2d"),
        "same size": (conv(4, 3, (2, 3, 4), padding="same"), "conv2d"),
        "groups": (conv(4, 6, (3, 1, 1), groups=2), "conv2d"),
        "depthwise": (conv(4, 4, 3, groups=4), "conv2d"),
        "images": (conv(4, 5, (1, 3, 3)), "conv2d"),
        "depth": (conv(4, 5, (3, 1, 1)), "conv2d"),
        "replicated": (conv(4, 5, 3, padding=1, padding_mode="replicate"), "conv2d"),
        "relu": (nn.Sequential(conv(4, 5, 3), nn.ReLU()), "conv2d"),
        "norm": (nn.Sequential(conv(4, 5, 2), nn.BatchNorm3d(5), nn.ReLU6()), "conv2d"),
        "norm alone": (nn.Sequential(nn.BatchNorm3d(4), conv(4, 2, 1)), "depthwise_conv2d conv2d"),
        "transposed": (back(4, 3, 3, stride=2, padding=1, output_padding=1), "transpose_conv2d transpose_conv2d"),
        "transposed without strides": (back(4, 3, (3, 1, 2), padding=(2, 0, 1)), "conv2d"),
        "transposed in groups": (
            back(4, 6, (5, 2, 3), stride=(3, 1, 2), padding=(2, 1, 0), dilation=(2, 1, 1), groups=2, bias=False),
            "transpose_conv2d transpose_conv2d transpose_conv2d",
        ),
        "transposed with a relu": (
            nn.Sequential(back(4, 3, (1, 2, 2), stride=2), nn.BatchNorm3d(3), nn.ReLU()),
            "transpose_conv2d transpose_conv2d",
        ),
        "maximum": (nn.Sequential(conv(4, 5, 1), nn.MaxPool3d(2)), "conv2d max_pool2d max_pool2d"),
        "maxima that overlap": (
            nn.Sequential(conv(4, 5, 1), nn.MaxPool3d((3, 2, 3), 2, 1, ceil_mode=True)),
            "conv2d max_pool2d max_pool2d",
        ),
        "average": (nn.Sequential(conv(4, 5, 1), nn.AvgPool3d((2, 3, 2))), "conv2d conv2d"),
        "average of padding": (nn.Sequential(conv(4, 5, 1), nn.AvgPool3d(3, 2, 1)), "conv2d conv2d"),
        "adaptive average": (nn.Sequential(conv(4, 5, 1), nn.AdaptiveAvgPool3d((1, 3, 7))), "conv2d conv2d"),
        "windows that differ": (
            nn.Sequential(conv(4, 5, 1), nn.AdaptiveAvgPool3d((2, 4, 3))),
            "conv2d adaptive_avg_pool2d avg_pool2d",
        ),
        "average of what is there": (
            nn.Sequential(conv(4, 5, 1), nn.AvgPool3d(3, 2, 1, ceil_mode=True, count_include_pad=False)),
            "conv2d avg_pool2d avg_pool2d",
        ),
        "adaptive maximum": (
            nn.Sequential(conv(4, 5, 1), nn.AdaptiveMaxPool3d((5, 3, 1))),
            "conv2d max_pool2d max_pool2d",
        ),
        "mean": (nn.Sequential(conv(4, 5, 1), nn.AdaptiveAvgPool3d(1)), "conv2d reduce_sum"),
        "without a batch": (
            nn.Sequential(Alone(), back(4, 4, 2), conv(4, 5, 2), nn.MaxPool3d(2), nn.AvgPool3d(2)),
            "conv2d conv2d max_pool2d max_pool2d conv2d",
        ),
    }


def test_volumes():
    cases = volumes()
    branches = {name: Branch(randomized(module), (torch.randn(2, 4, 5, 6, 7),)) for name, (module, _) in cases.items()}
    moving = ("quantize", "dequantize", "strided_copy", "transpose", "pad_nd", "part", "join")
    for name, apart in branches_apart(branches).items():
        assert apart.distance <= 1 and apart.error < 0.05, name
        assert " ".join(op for op in apart.ops if op not in moving) == cases[name][1], name


@pytest.mark.parametrize("io", ["float", "int8"])
def test_a_keyword_network_of_sound(io):
    distances, graph = steps_apart(randomized(m5()), torch.randn(1, 1, 1200), io=io)
    layers = "conv2d max_pool2d " * 3 + "reduce_sum fully_connected"
    # One channel lies in memory as the caller has it: nothing is moved, even if the input is int8.
    assert [node.op for node in graph.nodes if node.op not in ("quantize", "dequantize")] == layers.split()
    assert max(distances) <= 1


@pytest.mark.parametrize("crop", [False, True])
def test_a_temporal_convolutional_network(crop):
    distances, graph = steps_apart(tcn(crop), torch.randn(1, 3, 20))
    # A part is where dilated taps become neighbours: nothing is moved.
    assert " ".join(node.op for node in graph.nodes if node.op != "part") == TCN
    # Means vary less than what they are of: with its scale, most of the range would be unused.
    (mean,) = (node for node in graph.nodes if node.op == "reduce_sum")
    assert mean.output.scale < mean.inputs[0].scale / 1.3
    assert max(distances) <= 1
