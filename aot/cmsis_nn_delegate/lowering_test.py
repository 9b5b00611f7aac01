"""Quantizer, partitioner, importer, passes and integer reference together: every operator and
small networks, next to the quantized module in PyTorch."""

import copy
import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings, strategies
from torch import nn
from torch.nn import functional as F

from cmsis_nn_delegate.graph.ir import Layout
from cmsis_nn_delegate.payload.encode import encode
from cmsis_nn_delegate.reference import run
from cmsis_nn_delegate.target import get_target
from cmsis_nn_delegate.testing.lowering import (
    Branch,
    Function,
    branches_apart,
    lowered,
    steps_apart,
)


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(1)


def ops(graph):
    return [node.op for node in graph.nodes]


def check(module, *inputs, expect=None, io="float", steps=1):
    distances, graph = steps_apart(module, *inputs, io=io)
    assert max(distances) <= steps
    if expect is not None:
        assert ops(graph) == expect.split()
    return graph


def check_each(branches, expect, io="float", steps=1):
    """`check` of many modules, lowered together. `branches` has a `Branch` by name; `expect` gives the
    operators for a name, or is the same string for all."""
    found = branches_apart(branches, io)
    assert found.keys() == branches.keys()
    far = {name: distance for name, (distance, _, _) in found.items() if distance > steps}
    assert not far, f"steps apart: {far}"
    wanted = {name: expect if isinstance(expect, str) else expect(name) for name in branches}
    assert {name: " ".join(path) for name, (_, _, path) in found.items()} == wanted
    return found


# One operator ---------------------------------------------------------------

CONVS = [
    # in, out, size, kernel, options
    (3, 4, (6, 7), 3, {}),
    (3, 5, (9, 8), (3, 2), {"stride": (2, 1), "padding": (1, 0)}),
    (4, 6, (9, 9), 3, {"dilation": 2, "padding": 2}),
    (4, 6, (5, 5), 1, {"bias": False}),
    (4, 8, (6, 6), 3, {"groups": 2, "padding": 1}),
    (6, 6, (7, 6), 3, {"groups": 3, "stride": 2}),
    (1, 4, (10, 6), (4, 2), {"stride": 2, "padding": (3, 1)}),
    (3, 4, (6, 6), (2, 4), {"padding": "same"}),
    (2, 3, (8, 8), 4, {"padding": "same", "dilation": 2}),
    (3, 2, (1, 9), (1, 3), {}),
    (5, 7, (3, 3), 3, {}),
    (4, 4, (6, 6), 3, {"groups": 4, "padding": 1}),
    (4, 8, (6, 5), 3, {"groups": 4, "stride": 2}),
    (3, 3, (6, 6), 5, {"groups": 3, "padding": 2, "dilation": 1, "bias": False}),
    (2, 6, (7, 7), (1, 3), {"groups": 2, "dilation": (1, 2), "padding": "same"}),
]


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
def test_convolutions(layout):
    branches = {}
    for index, (cin, cout, size, kernel, options) in enumerate(CONVS):
        depthwise = options.get("groups", 1) == cin > 1
        x = torch.randn(1 + index % 2, cin, *size).to(memory_format=layout)
        name = f"{'depthwise_conv2d' if depthwise else 'conv2d'}, case {index}"
        branches[name] = Branch(nn.Conv2d(cin, cout, kernel, **options), (x,))
    check_each(branches, lambda name: f"quantize {name.split(',')[0]} dequantize")


def test_one_channel_convolution_is_not_depthwise():
    check(
        nn.Conv2d(1, 8, 3, groups=1), torch.randn(1, 1, 6, 6), expect="quantize conv2d dequantize"
    )


@pytest.mark.parametrize("pads", [(1, 2, 0, 3), (0, 0, 2, 0), (3, 1), (1, 0, 0, 0, 0, 0)])
@pytest.mark.parametrize("groups", [1, 4])
def test_padding_folds_into_the_convolution(pads, groups):
    conv = nn.Conv2d(4, 4, 3, padding=1, groups=groups)
    graph = check(Function(lambda x: conv(F.pad(x, pads)), conv=conv), torch.randn(2, 4, 6, 5))
    assert "pad" not in ops(graph) and len(graph.nodes) == 3


@pytest.mark.parametrize(
    "kernel, own, pads", [(1, 1, (0, 0)), (3, 3, (0, 0)), (3, 0, (4, 0, 0, 4)), (2, 1, (1, 5, 2, 3))]
)
def test_depthwise_windows_in_padding_alone(kernel, own, pads):
    conv = nn.Conv2d(4, 4, kernel, padding=own, groups=4)
    function = Function(lambda x: conv(F.pad(x, pads)), conv=conv)
    graph = check(function, torch.randn(1, 4, 6, 5), expect="quantize depthwise_conv2d dequantize")
    encode(graph, get_target("cortex-m4"))


def test_padding_twice_folds_too():
    conv = nn.Conv2d(2, 4, 3)
    function = Function(lambda x: conv(F.pad(F.pad(x, (1, 0)), (0, 1, 1, 1))), conv=conv)
    check(function, torch.randn(1, 2, 5, 5), expect="quantize conv2d dequantize")


def test_padding_behind_relu_folds_into_max_pooling():
    conv = nn.Conv2d(2, 4, 3)
    function = Function(
        lambda x: F.max_pool2d(F.pad(F.relu(conv(x)), (0, 1, 0, 1)), 2, 2), conv=conv
    )
    check(function, torch.randn(1, 2, 7, 7), expect="quantize conv2d max_pool2d dequantize")


def test_linear_layers():
    cases = [(shape, 8, 5) for shape in [(1, 8), (5, 8), (2, 3, 8), (2, 1, 3, 8)]]
    cases.append(((3, 1, 1, 1), 1, 1))
    branches = {
        f"{shape}, bias {bias}": Branch(nn.Linear(*sizes, bias=bias), (torch.randn(shape),))
        for shape, *sizes in cases
        for bias in (True, False)
    }
    check_each(branches, "quantize fully_connected dequantize")


def test_linear_along_the_width_of_images():
    conv, linear = nn.Conv2d(2, 3, 3), nn.Linear(4, 5)
    function = Function(lambda x: F.relu(linear(conv(x))), conv=conv, linear=linear)
    check(
        function,
        torch.randn(2, 2, 6, 6),
        expect="quantize conv2d transpose fully_connected dequantize",
    )


ACTIVATIONS = {
    "relu": F.relu,
    "relu6": F.relu6,
    "hardtanh": F.hardtanh,
    "clamp": lambda x: x.clamp(-0.3, 0.4),
    "min": lambda x: x.clamp(max=0.2),
    "relu_": lambda x: F.relu(x, inplace=True),
}
PRODUCERS = {
    "conv2d": (nn.Conv2d(2, 3, 3), (1, 2, 5, 5)),
    "depthwise_conv2d": (nn.Conv2d(3, 3, 3, groups=3), (1, 3, 5, 5)),
    "fully_connected": (nn.Linear(6, 4), (2, 6)),
    "add": (Function(lambda x: x + x), (1, 2, 3, 4)),
    "avg_pool2d": (nn.AvgPool2d(2), (1, 3, 4, 4)),
    "max_pool2d": (nn.MaxPool2d(2), (1, 3, 4, 4)),
}


@pytest.mark.parametrize("producer", PRODUCERS)
def test_fused_activations(producer):
    module, shape = PRODUCERS[producer]
    branches = {
        act: Branch(nn.Sequential(copy.deepcopy(module), Function(function)), (torch.randn(shape),))
        for act, function in ACTIVATIONS.items()
    }
    check_each(branches, f"quantize {producer} dequantize")


def test_activations_alone():
    branches = {
        f"{act} of {shape}": Branch(Function(ACTIVATIONS[act]), (torch.randn(shape),))
        for shape in [(1, 3, 4, 5), (2, 6), (2, 3, 4), (7,), (200, 200, 2)]
        for act in ("relu", "clamp")
    }
    check_each(branches, "quantize max_pool2d dequantize")


def test_two_activations_become_one():
    conv = nn.Conv2d(2, 3, 3)
    function = Function(lambda x: F.relu6(F.relu(conv(x))).clamp(0.1, 0.9), conv=conv)
    check(function, torch.randn(1, 2, 5, 5), expect="quantize conv2d dequantize")


POOLS = {
    "avg": lambda x: F.avg_pool2d(x, 2),
    "avg_overlap": lambda x: F.avg_pool2d(x, 3, 2),
    "avg_pad": lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
    "avg_ceil": lambda x: F.avg_pool2d(x, 3, 2, ceil_mode=True),
    "avg_ceil_pad": lambda x: F.avg_pool2d(
        x, (3, 2), 2, (1, 0), ceil_mode=True, count_include_pad=False
    ),
    "max": lambda x: F.max_pool2d(x, 2),
    "max_pad": lambda x: F.max_pool2d(x, 3, 2, 1),
    "max_ceil": lambda x: F.max_pool2d(x, (2, 3), (2, 3), ceil_mode=True),
    "adaptive_1": lambda x: F.adaptive_avg_pool2d(x, 1),
    "adaptive": lambda x: F.adaptive_avg_pool2d(x, (2, 3)),
    "mean": lambda x: x.mean((2, 3)),
    "mean_keep": lambda x: x.mean((-1, -2), keepdim=True),
    "mean_h": lambda x: x.mean(2, keepdim=True),
    "mean_w": lambda x: x.mean(3),
}


@pytest.mark.parametrize("layout", [torch.contiguous_format, torch.channels_last])
def test_pooling(layout):
    x = torch.randn(2, 3, 8, 9).to(memory_format=layout)
    branches = {name: Branch(Function(pool), (x.clone(),)) for name, pool in POOLS.items()}
    for name, (distance, _, path) in branches_apart(branches).items():
        assert distance <= 1, name
        kind = "max_pool2d" if name.startswith("max") else "avg_pool2d"
        assert path[:2] == ["quantize", kind], name


def test_softmax():
    cases = [
        ((1, 5), 1),
        ((3, 10), -1),
        ((2, 3, 7), 2),
        ((2, 5, 3, 4), 1),
        ((6,), 0),
        ((1, 1, 4, 4), 1),
        ((1, 1, 4, 4), 3),
        ((1, 4, 1, 1), 3),
        ((2, 4, 3, 1), 3),
        ((3, 4, 1), 1),
        ((3, 1, 4), 1),
    ]
    branches = {
        f"{shape} along {dim}": Branch(nn.Softmax(dim), (4 * torch.randn(shape),))
        for shape, dim in cases
    }
    found = check_each(branches, "quantize softmax dequantize")
    for graph in {id(graph): graph for _, graph, _ in found.values()}.values():
        encode(graph, get_target("cortex-m4"))


def test_add():
    branches = {
        str(shape): Branch(Function(lambda a, b: a + b), (torch.randn(shape), 3 * torch.randn(shape)))
        for shape in [(4,), (2, 3), (2, 3, 4), (2, 3, 4, 5), (2, 1, 3, 2, 2)]
    }
    check_each(branches, "quantize quantize add dequantize")


# Layout and shape -----------------------------------------------------------


@pytest.mark.parametrize("io", ["float", "int8"])
@pytest.mark.parametrize("inside, outside", list(itertools.product(["nchw", "nhwc"], repeat=2)))
def test_memory_formats_at_the_border(inside, outside, io):
    formats = {"nchw": torch.contiguous_format, "nhwc": torch.channels_last}
    conv = nn.Conv2d(3, 4, 3)
    x = torch.randn(1, 3, 5, 6).to(memory_format=formats[inside])
    function = Function(lambda x: conv(x).to(memory_format=formats[outside]), conv=conv)
    graph = check(function, x, io=io)
    layouts = {"nchw": Layout.ROW_MAJOR, "nhwc": Layout.CHANNELS_LAST}
    assert graph.inputs[0].layout is layouts[inside]
    assert graph.outputs[0].layout is layouts[outside]
    expected = (inside == "nchw") + (outside == "nchw") if io == "int8" else 0
    assert ops(graph).count("transpose") == expected


@pytest.mark.parametrize("shape", [(1, 1, 5, 6), (2, 4, 1, 1)])
def test_trivial_layouts_need_no_transpose(shape):
    conv = nn.Conv2d(shape[1], shape[1], 1)
    graph = check(conv, torch.randn(shape), io="int8", expect="conv2d")
    assert graph.inputs[0].layout is graph.outputs[0].layout is Layout.ROW_MAJOR


@pytest.mark.parametrize("io", ["float", "int8"])
def test_flatten_permutes_the_columns_of_linear_layers(io):
    conv, a, b = nn.Conv2d(2, 3, 3), nn.Linear(36, 5), nn.Linear(36, 4)

    def f(x):
        y = torch.flatten(F.relu(conv(x)), 1)
        return a(y), b(y)

    x = torch.randn(2, 2, 5, 6).to(memory_format=torch.channels_last)
    check(
        Function(f, conv=conv, a=a, b=b),
        x,
        io=io,
        expect=(
            "quantize conv2d fully_connected dequantize fully_connected dequantize"
            if io == "float"
            else "conv2d fully_connected fully_connected"
        ),
    )


def test_flattened_input_to_linear_needs_no_permutation():
    linear = nn.Linear(24, 3)
    function = Function(lambda x: linear(x.flatten(1)), linear=linear)
    check(function, torch.randn(2, 2, 3, 4), io="int8", expect="fully_connected")


def test_a_flattened_image_that_is_returned_is_reordered():
    conv = nn.Conv2d(2, 3, 2)
    function = Function(lambda x: conv(x).flatten(1), conv=conv)
    x = torch.randn(2, 2, 4, 4).to(memory_format=torch.channels_last)
    check(function, x, expect="quantize conv2d dequantize")
    check(function, x, io="int8", expect="conv2d transpose")


def test_flatten_for_a_reader_that_is_not_linear_is_a_transpose():
    conv = nn.Conv2d(2, 3, 2)
    function = Function(lambda x: F.softmax(conv(x).flatten(1), 1), conv=conv)
    check(function, torch.randn(2, 2, 4, 4), expect="quantize conv2d transpose softmax dequantize")


@pytest.mark.parametrize("io", ["float", "int8"])
def test_views_into_and_out_of_images(io):
    conv, down = nn.Conv2d(1, 4, 3), nn.Conv2d(2, 3, 2)

    def f(x):
        y = conv(x.view(2, 1, 6, 5))  # a row becomes an image
        z = y.reshape(2, 2, 8, 3)  # moves data on both sides
        return down(z), y.squeeze().unsqueeze(0)

    check(Function(f, conv=conv, down=down), torch.randn(2, 30), io=io, steps=2)


def test_linear_result_becomes_an_image():
    linear, conv = nn.Linear(5, 12), nn.Conv2d(3, 2, 2)
    function = Function(lambda x: conv(linear(x).view(-1, 3, 2, 2)), linear=linear, conv=conv)
    check(
        function, torch.randn(2, 5), expect="quantize fully_connected transpose conv2d dequantize"
    )


# Networks -------------------------------------------------------------------


class Residual(nn.Module):
    """Residual blocks with batch norm, in-place activations, a head with dropout."""

    def __init__(self):
        super().__init__()
        self.stem = self.block(3, 8, nn.ReLU(inplace=True))
        self.a = self.block(8, 8, nn.ReLU6(inplace=True))
        self.b = self.block(8, 8)
        self.down = nn.Conv2d(8, 12, 1, stride=2)
        self.c = nn.Conv2d(8, 12, 3, stride=2, padding=1)
        self.head = nn.Sequential(
            nn.Flatten(), nn.Dropout(0.5), nn.Linear(12, 5), nn.BatchNorm1d(5)
        )

    @staticmethod
    def block(cin, cout, *act):
        norm = nn.BatchNorm2d(cout)
        norm.running_mean.uniform_(-0.2, 0.2)
        norm.running_var.uniform_(0.5, 1.5)
        return nn.Sequential(nn.Conv2d(cin, cout, 3, padding=1, bias=False), norm, *act)

    def forward(self, x):
        x = self.stem(x)
        y = self.b(self.a(x))
        y += x
        x = F.relu_(y)
        x = F.relu(self.c(x) + self.down(x))
        return F.softmax(self.head(F.adaptive_avg_pool2d(x, 1)), 1)


@pytest.mark.parametrize("io", ["float", "int8"])
def test_residual_network_is_one_delegate(io):
    graph = check(Residual(), torch.randn(2, 3, 8, 8), io=io, steps=4)
    kernels = [op for op in ops(graph) if op not in ("quantize", "dequantize", "transpose")]
    assert (
        kernels
        == "conv2d conv2d conv2d add conv2d conv2d add avg_pool2d fully_connected softmax".split()
    )
    assert ops(graph).count("transpose") == (io == "int8")


def test_several_inputs_and_outputs():
    a, b = nn.Conv2d(2, 4, 1), nn.Conv2d(3, 4, 3, padding=1)

    def f(x, y):
        s = a(x) + b(y)
        return s, F.max_pool2d(s, 2), s

    inputs = torch.randn(1, 2, 4, 4), torch.randn(1, 3, 4, 4)
    for io in ("float", "int8"):
        graph = check(Function(f, a=a, b=b), *inputs, io=io, steps=2)
        assert len({id(value) for value in graph.outputs}) == 2


def test_independent_branches_are_one_delegate():
    a, b = nn.Linear(4, 3), nn.Linear(5, 2)
    check(Function(lambda x, y: (a(x), b(y)), a=a, b=b), torch.randn(1, 4), torch.randn(1, 5))


def test_output_that_is_read_inside_too():
    a, b = nn.Conv2d(2, 3, 3, padding=1), nn.Conv2d(3, 3, 3, padding=1)

    def f(x):
        y = F.relu(a(x))
        return y, b(y) + y

    for io in ("float", "int8"):
        check(Function(f, a=a, b=b), torch.randn(1, 2, 4, 5), io=io, steps=2)


def test_input_that_is_returned_is_copied():
    conv = nn.Conv2d(2, 3, 3)
    function = Function(
        lambda x: (conv(F.max_pool2d(x, 1)), F.max_pool2d(x, 1).flatten(0)), conv=conv
    )
    check(function, torch.randn(1, 2, 4, 4), io="int8")


def test_integers_do_not_change_with_the_memory_format():
    module = Residual()
    x = torch.randn(1, 3, 8, 8)
    results = []
    for memory_format in (torch.contiguous_format, torch.channels_last):
        graph = lowered(module, x.to(memory_format=memory_format)).graph()
        results.append(run(graph, [x.numpy()])[0])
    np.testing.assert_array_equal(*results)


@settings(max_examples=5, deadline=None, derandomize=True)
@given(data=strategies.data())
def test_any_convolutions(data):
    branches = {}
    for index in range(4):
        module, x = any_convolution(data.draw)
        branches[f"{index}: {module.conv}, {list(x.shape)}"] = Branch(module, (x,))
    found = branches_apart(branches, data.draw(strategies.sampled_from(["float", "int8"]), "io"))
    assert all(distance <= 1 for distance, _, _ in found.values()), found


def any_convolution(draw):
    """A convolution behind padding of its own, with or without relu, and an input for it."""
    groups = draw(strategies.integers(1, 4), "groups")
    channels = groups * draw(strategies.integers(1, 3), "channels per group")
    kernel, stride, dilation = (
        (draw(strategies.integers(1, most)), draw(strategies.integers(1, most)))
        for most in (4, 3, 2)
    )
    reach = [(k - 1) * d + 1 for k, d in zip(kernel, dilation)]
    pads = [draw(strategies.integers(0, 3), "pad") for _ in range(4)]
    size = [r + draw(strategies.integers(0, 4), "size") for r in reach]
    conv = nn.Conv2d(
        channels,
        groups * draw(strategies.integers(1, 3)),
        kernel,
        stride,
        0,
        dilation,
        groups,
        bias=draw(strategies.booleans(), "bias"),
    )
    x = torch.randn(draw(strategies.integers(1, 2), "batch"), channels, *size)
    if draw(strategies.booleans(), "channels_last"):
        x = x.to(memory_format=torch.channels_last)
    relu = draw(strategies.booleans(), "relu")
    return Function(lambda x: (F.relu if relu else torch.clone)(conv(F.pad(x, pads))), conv=conv), x
