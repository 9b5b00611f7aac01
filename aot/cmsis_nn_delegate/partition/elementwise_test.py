"""Sums, differences, products, quotients, minima and maxima as people write them, through quantizer, partitioner,
passes and reference, next to the quantized module in PyTorch."""

import re

import numpy as np
import pytest
import torch
from torch import nn
from torch.nn import functional as F

from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.reference import run
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing.lowering import Branch, Function, branches_apart, lower_program, steps_apart


@pytest.fixture(autouse=True)
def seeded():
    torch.manual_seed(1)


class WithParameters(nn.Module):
    """A function of its inputs and of parameters of these shapes."""

    def __init__(self, function, *shapes):
        super().__init__()
        self.function = function
        self.parameters_ = nn.ParameterList([nn.Parameter(torch.randn(shape)) for shape in shapes])

    def forward(self, *inputs):
        return self.function(*inputs, *self.parameters_)


def inputs(*shapes):
    return tuple(torch.randn(shape) * (1 + index) for index, shape in enumerate(shapes))


IMAGE, TOKENS = (2, 5, 4, 3), (2, 6, 7)
IMAGES = (torch.randn(1, 3, 6, 6),)
TWO = {  # name: (function, shapes)
    "gate per channel": (lambda a, b: a * b, [IMAGE, (2, 5, 1, 1)]),
    "gate of a vector": (lambda a, b: a * b[:, :, None, None], [IMAGE, (2, 5)]),
    "gate per pixel": (lambda a, b: b * a, [IMAGE, (2, 1, 4, 3)]),
    "an image without batch": (lambda a, b: a - b, [IMAGE, (5, 4, 3)]),
    "flattened after": (lambda a, b: (a * b).flatten(1), [IMAGE, (2, 5, 1, 1)]),
    "sum over tokens": (lambda a, b: a + b, [TOKENS, (7,)]),
    "outer product": (lambda a, b: a * b, [(2, 1, 7), (2, 6, 1)]),
    "rank 5": (lambda a, b: a * b, [(2, 1, 4, 4, 3), (2, 5, 1, 4, 3)]),
    "an image in rank 5": (lambda a, b: a + b, [(2, 2, 5, 2, 3), (2, 5, 2, 3)]),
    "one element": (lambda a, b: a + b, [TOKENS, (1, 1)]),
    "difference": (lambda a, b: a - b, [TOKENS, TOKENS]),
    "difference of a factor": (lambda a, b: torch.sub(a, b, alpha=2), [TOKENS, TOKENS]),
    "reversed difference": (lambda a, b: torch.rsub(a, b, alpha=3), [TOKENS, (6, 1)]),
    "alpha": (lambda a, b: torch.add(a, b, alpha=-0.3), [TOKENS, TOKENS]),
    "alpha 0": (lambda a, b: torch.add(a, b, alpha=0), [TOKENS, TOKENS]),
    "in place": (lambda a, b: (a + b).sub_(b), [TOKENS, (6, 1)]),
    "relu": (lambda a, b: F.relu(a - b), [TOKENS, (7,)]),
    "relu6": (lambda a, b: F.relu6(a * b, inplace=True), [IMAGE, (2, 5, 1, 1)]),
    "gated": (lambda a, b: F.glu(a + b, 1), [TOKENS, TOKENS]),
    "gated channels": (lambda a, b: F.glu(a * b, dim=-3), [(2, 6, 4, 3), (2, 6, 4, 3)]),
    "quotient": (lambda a, b: a / (1 + b.abs()), [TOKENS, TOKENS]),
    "quotient per channel": (lambda a, b: torch.div(a, b.exp()), [IMAGE, (2, 5, 1, 1)]),
    "quotient by signed numbers": (lambda a, b: torch.divide(a, b.sign() * (b.abs() + 0.5)), [TOKENS, (6, 1)]),
    "quotient of a row": (lambda a, b: b / (a * a + 1), [TOKENS, (7,)]),
    "normalized": (lambda a, b: (a / a.abs().sum(-1, keepdim=True)).div_(1 + b.abs()), [TOKENS, TOKENS]),
    "quotient, then relu": (lambda a, b: F.relu(a / (1 + b.abs())), [TOKENS, TOKENS]),
    "minimum": (torch.minimum, [TOKENS, TOKENS]),
    "maximum": (torch.maximum, [IMAGE, IMAGE]),
    "minimum by its short name": (lambda a, b: torch.min(a, other=b), [IMAGE, (2, 5, 1, 1)]),
    "maximum by its short name": (lambda a, b: a.max(b), [TOKENS, (6, 1)]),
    "maximum of an outer product's shape": (torch.maximum, [(2, 1, 7), (2, 6, 1)]),
    "minimum of itself": (lambda a, b: torch.minimum(a, a) + b, [TOKENS, (7,)]),
    "maximum of what has a fixed scale": (lambda a, b: torch.maximum(a.softmax(-1), b), [TOKENS, TOKENS]),
    "maximum of fixed scales": (lambda a, b: torch.maximum(a.softmax(-1), b.softmax(-1)), [TOKENS, TOKENS]),
    "limited, then relu": (lambda a, b: F.relu(torch.minimum(a, b)), [IMAGE, (2, 5, 1, 1)]),
    "addcmul": (lambda a, b: torch.addcmul(a, a, b, value=0.5), [TOKENS, TOKENS]),
    "addcmul in place": (lambda a, b: (a + b).addcmul_(b, b, value=-2), [TOKENS, TOKENS]),
    "addcdiv": (lambda a, b: torch.addcdiv(a, b, 1 + b.abs(), value=0.3), [TOKENS, TOKENS]),
    "lerp": (lambda a, b: torch.lerp(a, b, 0.3), [TOKENS, TOKENS]),
    "lerp by a tensor": (lambda a, b: torch.lerp(a, b, torch.sigmoid(a)), [IMAGE, IMAGE]),
    "clamped to tensors": (lambda a, b: torch.clamp(a, -b.abs(), b.abs()), [TOKENS, (7,)]),
    "clamped from below": (lambda a, b: a.clamp(min=b), [TOKENS, TOKENS]),
    "clamp_max of a tensor": (torch.clamp_max, [TOKENS, (6, 1)]),
    "turned by a right angle": (lambda a, b: torch.rot90(a + b, 1, (2, 3)) + a.rot90(-1, (2, 3)), [IMAGE, IMAGE]),
    "turned around": (lambda a, b: torch.rot90(a + b, 2, (1, 2)).rot90(0), [TOKENS, TOKENS]),
    "limited from both sides": (lambda a, b: torch.minimum(torch.maximum(a, -b), b), [TOKENS, (7,)]),
}
ONE = {  # name: (function of an input and a parameter, the shapes of both)
    "per channel [C, 1, 1]": (lambda x, c: x * c, IMAGE, (5, 1, 1)),
    "per channel [1, C, 1, 1]": (lambda x, c: c + x, IMAGE, (1, 5, 1, 1)),
    "viewed": (lambda x, c: x * c.view(1, -1, 1, 1), IMAGE, (5,)),
    "computed": (lambda x, c: x - 2 * c.exp(), TOKENS, (7,)),
    "last dimension": (lambda x, c: c - x, TOKENS, (7,)),
    "divided": (lambda x, c: x / (3 + c), TOKENS, (7,)),
    "full size": (lambda x, c: x + c, IMAGE, (2, 5, 4, 3)),
    "position": (lambda x, c: x + c[:, :6], TOKENS, (1, 9, 7)),
    "tiny": (lambda x, c: x * (1e-7 * c), TOKENS, (7,)),
    "in place": (lambda x, c: F.relu(x).mul_(c).add_(c), TOKENS, (6, 1)),
    "dividend": (lambda x, c: c / (1 + x.abs()), TOKENS, (7,)),
    "maximum": (lambda x, c: torch.maximum(c, x), IMAGE, (5, 1, 1)),
    "minimum": (lambda x, c: torch.min(x, c), TOKENS, (6, 1)),
    "slopes per channel": (F.prelu, IMAGE, (5,)),
    "slopes of a sequence": (F.prelu, TOKENS, (6,)),
    "slopes of features, then limited": (lambda x, c: F.prelu(x, c).clamp_(-0.5, 1), (3, 8), (8,)),
    "addcmul with slopes": (lambda x, c: torch.addcmul(c, x, c), TOKENS, (7,)),
    "lerp to a row": (lambda x, c: torch.lerp(x, c, 0.9), TOKENS, (7,)),
    "lerp by a row": (lambda x, c: torch.lerp(x, x.exp(), c.sigmoid()), TOKENS, (7,)),
    "clamped to parameters": (lambda x, c: torch.clamp(x, -c.abs(), c.abs()), TOKENS, (7,)),
    "minimum with one number": (lambda x, c: torch.min(x, c), TOKENS, ()),
}


def check(branches, io):
    """Everything is delegated, at most a step away from PyTorch, and can be encoded."""
    found = branches_apart(branches, io)
    far = {name: apart.distance for name, apart in found.items() if apart.distance > 1}
    assert not far, f"steps apart: {far}"
    for graph in {id(apart.graph): apart.graph for apart in found.values()}.values():
        encode(graph, get_target("cortex-m4"))
    return found


def test_two_activations():
    found = check({name: Branch(Function(f), inputs(*shapes)) for name, (f, shapes) in TWO.items()}, "float")
    # Nothing is copied but what has another memory order than its operand.
    assert {name for name, apart in found.items() if "transpose" in apart.ops} == set()


@pytest.mark.parametrize("io", ["float", "int8"])
def test_activation_and_constant(io):
    branches = {name: Branch(WithParameters(f, constant), inputs(x)) for name, (f, x, constant) in ONE.items()}
    for apart in check(branches, io).values():
        assert len(apart.inputs) == 1


class Gated(nn.Module):
    """Squeeze-and-excitation, whose gate is a softmax, and a residual branch of another scale."""

    def __init__(self):
        super().__init__()
        self.expand, self.squeeze, self.excite = nn.Conv2d(3, 8, 1), nn.Conv2d(8, 4, 1), nn.Conv2d(4, 8, 1)
        self.project = nn.Conv2d(8, 3, 1)
        self.scale = nn.Parameter(torch.full((3, 1, 1), 1e-3))

    def forward(self, x):
        y = F.relu(self.expand(x))
        gate = F.softmax(self.excite(F.relu(self.squeeze(F.adaptive_avg_pool2d(y, 1)))), 1)
        return x + self.project(y * gate) * self.scale


def test_a_gated_residual_block_is_one_delegate():
    (distance,), graph = steps_apart(Gated(), torch.randn(1, 3, 6, 6))
    assert distance <= 1
    kernels = [node.op for node in graph.nodes]
    assert kernels.count("mul") == 2 and kernels.count("add") == 1 and "transpose" not in kernels
    # The gate and the scale per channel take the kernel that broadcasts, the sum does not.
    assert [node.attrs.shapes is None for node in graph.nodes if node.op in ("mul", "add")] == [False, False, True]


def requantized(x, scale, zero_point):
    q = torch.ops.quantized_decomposed
    x = q.quantize_per_tensor(x, scale, zero_point, -128, 127, torch.int8)
    return q.dequantize_per_tensor(x, scale, zero_point, -128, 127, torch.int8)


def requantized_around_pooling(x):
    x = requantized(requantized(x, 0.02, 3), 0.05, -7)
    return requantized(requantized(F.max_pool2d(x, 2), 0.05, -7), 0.013, 20)


def test_differences_of_what_is_equal_in_the_calibration_data():
    """The observer finds the smallest step that there is."""
    x = torch.linspace(-100, 100, 24).reshape(1, 2, 3, 4)
    differences = {"alone": lambda a, b: a - b, "clamped": lambda a, b: F.relu(a - b), "twice": lambda a, b: a - b + a}
    branches = {name: Branch(Function(function), (x.clone(), x.clone())) for name, function in differences.items()}
    for name, apart in branches_apart(branches).items():
        assert "add" in apart.ops and apart.distance == 0, name


def test_requantization():
    """Of what others quantized, and where a fixed scale meets another one."""
    x = torch.randn(1, 3, 6, 6)
    program = torch.export.export(Function(requantized_around_pooling), (x,))
    graph = lower_program(program).graph()
    assert [node.op for node in graph.nodes] == ["quantize", "lookup", "max_pool2d", "lookup", "dequantize"]
    (got,) = run(graph, [x.numpy()])
    np.testing.assert_array_equal(got, program.module()(x).numpy())

    layers = nn.Conv2d(3, 8, 3), nn.Conv2d(3, 4, 3)
    joined = Function(lambda x: torch.cat([F.softmax(layers[0](x), 1), layers[1](x)], 1), a=layers[0], b=layers[1])
    (distance,), graph = steps_apart(joined, x)
    assert distance <= 1 and [node.op for node in graph.nodes].count("lookup") == 1


class Limited(nn.Module):
    """The maximum with another input, or with a constant, of other scales."""

    def __init__(self, constant):
        super().__init__()
        self.constant = constant
        self.register_buffer("steps", torch.arange(6, dtype=torch.int8))

    def forward(self, x, y):
        if self.constant:
            y = torch.ops.quantized_decomposed.dequantize_per_tensor(self.steps, 0.05, 3, -128, 127, torch.int8)
        else:
            y = requantized(y, 0.05, 3)
        return requantized(torch.maximum(requantized(x, 0.02, 3), y), 0.02, 3)


@pytest.mark.parametrize(
    "constant, what", [(False, "and output .* differ"), (True, "its constant operand has another")]
)
def test_maxima_of_other_scales_than_the_quantizer_gives_are_refused(constant, what):
    program = torch.export.export(Limited(constant), inputs((6,), (6,)))
    (reason,) = (r.message for r in lower_program(program).reports if r.target == "aten.maximum.default")
    assert re.search(what, reason)


def test_islands_that_only_requantize_stay_outside():
    program = torch.export.export(Function(lambda x: torch.sin(requantized(requantized(x, 0.02, 3), 0.05, 0))), IMAGES)
    assert not lower_program(program).delegates
