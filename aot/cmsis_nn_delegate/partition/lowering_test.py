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

from cmsis_nn_delegate.format.schema import MAX_IO
from cmsis_nn_delegate.graph.tensor_type import Layout
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.reference import run
from cmsis_nn_delegate.targets.target import get_target
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
    far = {name: apart.distance for name, apart in found.items() if apart.distance > steps}
    assert not far, f"steps apart: {far}"
    wanted = {name: expect if isinstance(expect, str) else expect(name) for name in branches}
    assert {name: " ".join(apart.ops) for name, apart in found.items()} == wanted
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


def padded(conv, *pads):
    """A convolution after padding of its own, once or several times."""

    def function(x):
        for amounts in pads:
            x = F.pad(x, amounts)
        return conv(x)

    return Function(function, conv=conv)


def test_padding_folds_into_the_convolution():
    branches = {
        f"{op} after {pads}": Branch(
            padded(nn.Conv2d(4, 4, 3, padding=1, groups=groups), pads), (torch.randn(2, 4, 6, 5),)
        )
        for op, groups in [("conv2d", 1), ("depthwise_conv2d", 4)]
        for pads in [(1, 2, 0, 3), (0, 0, 2, 0), (3, 1), (1, 0, 0, 0, 0, 0)]
    }
    check_each(branches, lambda name: f"quantize {name.split()[0]} dequantize")


def test_depthwise_windows_in_padding_alone():
    cases = [(1, 1, (0, 0)), (3, 3, (0, 0)), (3, 0, (4, 0, 0, 4)), (2, 1, (1, 5, 2, 3))]
    branches = {
        f"kernel {kernel}, padding {own} and {pads}": Branch(
            padded(nn.Conv2d(4, 4, kernel, padding=own, groups=4), pads), (torch.randn(1, 4, 6, 5),)
        )
        for kernel, own, pads in cases
    }
    found = check_each(branches, "quantize depthwise_conv2d dequantize")
    encode_each(found, "cortex-m4")


def encode_each(found, target):
    for graph in {id(apart.graph): apart.graph for apart in found.values()}.values():
        encode(graph, get_target(target))


def few_layers():
    """By name: (layers, their function, the shape of the input, operators besides those at the border)."""
    conv, linear = nn.Conv2d, nn.Linear
    return {
        "one channel is not depthwise": ([conv(1, 8, 3, groups=1)], lambda x, c: c(x), (1, 1, 6, 6), "conv2d"),
        "padding twice": (
            [conv(2, 4, 3)],
            lambda x, c: c(F.pad(F.pad(x, (1, 0)), (0, 1, 1, 1))),
            (1, 2, 5, 5),
            "conv2d",
        ),
        "padding after relu folds into max pooling": (
            [conv(2, 4, 3)],
            lambda x, c: F.max_pool2d(F.pad(F.relu(c(x)), (0, 1, 0, 1)), 2, 2),
            (1, 2, 7, 7),
            "conv2d max_pool2d",
        ),
        "linear along the width of images": (
            [conv(2, 3, 3), linear(4, 5)],
            lambda x, c, fc: F.relu(fc(c(x))),
            (2, 2, 6, 6),
            "conv2d transpose fully_connected",
        ),
        "two activations become one": (
            [conv(2, 3, 3)],
            lambda x, c: F.relu6(F.relu(c(x))).clamp(0.1, 0.9),
            (1, 2, 5, 5),
            "conv2d",
        ),
        "flatten for a reader that is not linear is a transpose": (
            [conv(2, 3, 2)],
            lambda x, c: F.softmax(c(x).flatten(1), 1),
            (2, 2, 4, 4),
            "conv2d transpose softmax",
        ),
        "the result of linear becomes an image": (
            [linear(5, 12), conv(3, 2, 2)],
            lambda x, fc, c: c(fc(x).view(-1, 3, 2, 2)),
            (2, 5),
            "fully_connected transpose conv2d",
        ),
    }


def test_few_layers():
    cases = few_layers()
    branches = {
        name: Branch(WithLayers(layers, function), (torch.randn(shape),))
        for name, (layers, function, shape, _) in cases.items()
    }
    check_each(branches, lambda name: f"quantize {cases[name][3]} dequantize")


class WithLayers(nn.Module):
    """A function of an input and of layers."""

    def __init__(self, layers, function):
        super().__init__()
        self.layers, self.function = nn.ModuleList(layers), function

    def forward(self, x):
        return self.function(x, *self.layers)


def test_linear_layers():
    cases = [(shape, 8, 5) for shape in [(1, 8), (5, 8), (2, 3, 8), (2, 1, 3, 8), (2, 3, 2, 8)]]
    cases.append(((3, 1, 1, 1), 1, 1))
    branches = {
        f"{shape}, bias {bias}": Branch(nn.Linear(*sizes, bias=bias), (torch.randn(shape),))
        for shape, *sizes in cases
        for bias in (True, False)
    }
    check_each(branches, "quantize fully_connected dequantize")


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


POOLS = {
    "avg": lambda x: F.avg_pool2d(x, 2),
    "avg_overlap": lambda x: F.avg_pool2d(x, 3, 2),
    "avg_pad": lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
    "avg_ceil": lambda x: F.avg_pool2d(x, 3, 2, ceil_mode=True),
    "avg_ceil_pad": lambda x: F.avg_pool2d(x, (3, 2), 2, (1, 0), ceil_mode=True, count_include_pad=False),
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
    for name, apart in branches_apart(branches).items():
        assert apart.distance <= 1, name
        kind = "max_pool2d" if name.startswith("max") else "avg_pool2d"
        assert apart.ops[:2] == ["quantize", kind], name


def test_softmax():
    cases = [
        ((1, 5), 1),
        ((3, 10), -1),
        ((2, 3, 7), 2),
        ((2, 5, 3, 4), 1),
        ((2, 5, 3, 4), 3),
        ((6,), 0),
        ((1, 1, 4, 4), 1),
        ((1, 1, 4, 4), 3),
        ((1, 4, 1, 1), 3),
        ((2, 4, 3, 1), 3),
        ((3, 4, 1), 1),
        ((3, 1, 4), 1),
    ]
    branches = {f"{shape} along {dim}": Branch(nn.Softmax(dim), (4 * torch.randn(shape),)) for shape, dim in cases}
    found = check_each(branches, "quantize softmax dequantize")
    encode_each(found, "cortex-m4")


def test_add():
    branches = {
        str(shape): Branch(Function(lambda a, b: a + b), (torch.randn(shape), 3 * torch.randn(shape)))
        for shape in [(4,), (2, 3), (2, 3, 4), (2, 3, 4, 5), (2, 1, 3, 2, 2)]
    }
    check_each(branches, "quantize quantize add dequantize")


# Layout and shape -----------------------------------------------------------


FORMATS = {"nchw": torch.contiguous_format, "nhwc": torch.channels_last}
LAYOUTS = {"nchw": Layout.ROW_MAJOR, "nhwc": Layout.CHANNELS_LAST}


def formatted(outside):
    conv = nn.Conv2d(3, 4, 3)
    return Function(lambda x: conv(x).to(memory_format=FORMATS[outside]), conv=conv)


@pytest.mark.parametrize("io", ["float", "int8"])
def test_memory_formats_at_the_border(io):
    branches = {
        f"{inside} to {outside}": Branch(
            formatted(outside), (torch.randn(1, 3, 5, 6).to(memory_format=FORMATS[inside]),)
        )
        for inside, outside in itertools.product(FORMATS, repeat=2)
    }
    for name, apart in branches_apart(branches, io).items():
        inside, outside = name.split(" to ")
        assert apart.distance <= 1, name
        (read,) = apart.inputs
        assert (read.layout, apart.output.layout) == (LAYOUTS[inside], LAYOUTS[outside]), name
        expected = (inside == "nchw") + (outside == "nchw") if io == "int8" else 0
        assert apart.ops.count("transpose") == expected, name


def test_trivial_layouts_need_no_transpose():
    branches = {
        str(shape): Branch(nn.Conv2d(shape[1], shape[1], 1), (torch.randn(shape),))
        for shape in [(1, 1, 5, 6), (2, 4, 1, 1)]
    }
    for name, apart in check_each(branches, "conv2d", io="int8").items():
        assert apart.inputs[0].layout is apart.output.layout is Layout.ROW_MAJOR, name


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


@pytest.mark.parametrize("io", ["float", "int8"])
def test_views_into_and_out_of_images(io):
    conv, down = nn.Conv2d(1, 4, 3), nn.Conv2d(2, 3, 2)

    def f(x):
        y = conv(x.view(2, 1, 6, 5))  # a row becomes an image
        z = y.reshape(2, 2, 8, 3)  # moves data on both sides
        return down(z), y.squeeze().unsqueeze(0)

    check(Function(f, conv=conv, down=down), torch.randn(2, 30), io=io, steps=2)


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
        self.head = nn.Sequential(nn.Flatten(), nn.Dropout(0.5), nn.Linear(12, 5), nn.BatchNorm1d(5))

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
    assert kernels == "conv2d conv2d conv2d add conv2d conv2d add avg_pool2d fully_connected softmax".split()
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
    function = Function(lambda x: (conv(F.max_pool2d(x, 1)), F.max_pool2d(x, 1).flatten(0)), conv=conv)
    check(function, torch.randn(1, 2, 4, 4), io="int8")


def test_integers_do_not_change_with_the_memory_format():
    module = Residual()
    x = torch.randn(1, 3, 8, 8)
    results = []
    for memory_format in (torch.contiguous_format, torch.channels_last):
        graph = lowered(module, x.to(memory_format=memory_format)).graph()
        results.append(run(graph, [x.numpy()])[0])
    np.testing.assert_array_equal(*results)


@settings(max_examples=3, deadline=None, derandomize=True)
@given(data=strategies.data())
def test_any_convolutions(data):
    branches = {}
    for index in range(MAX_IO // 2):  # as many as are lowered together
        module, x = any_convolution(data.draw)
        branches[f"{index}: {module.conv}, {list(x.shape)}"] = Branch(module, (x,))
    found = branches_apart(branches, data.draw(strategies.sampled_from(["float", "int8"]), "io"))
    far = {name: apart.distance for name, apart in found.items() if apart.distance > 1}
    assert not far, f"steps apart: {far}"


def any_convolution(draw):
    """A convolution after padding of its own, with or without relu, and an input for it."""
    groups = draw(strategies.integers(1, 4), "groups")
    channels = groups * draw(strategies.integers(1, 3), "channels per group")
    kernel, stride, dilation = (
        (draw(strategies.integers(1, most)), draw(strategies.integers(1, most))) for most in (4, 3, 2)
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
