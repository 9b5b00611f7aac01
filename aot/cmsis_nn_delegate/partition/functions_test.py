"""Functions of one number in every form that PyTorch writes, from the module to the integers."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from cmsis_nn_delegate.format.schema import MAX_IO
from cmsis_nn_delegate.testing.lowering import Function, in_float, lowered, steps_apart

# Of any number, by name; `x` in place is a tensor of its own.
FORMS = {
    "torch.sigmoid": torch.sigmoid,
    "nn.Sigmoid": nn.Sigmoid(),
    "F.sigmoid": F.sigmoid,
    "special.expit": torch.special.expit,
    "sigmoid_": lambda x: x.sigmoid_(),
    "tanh": torch.tanh,
    "nn.Tanh": nn.Tanh(),
    "hardsigmoid": F.hardsigmoid,
    "nn.Hardsigmoid in place": nn.Hardsigmoid(inplace=True),
    "hardswish": F.hardswish,
    "nn.Hardswish in place": nn.Hardswish(inplace=True),
    "silu": F.silu,
    "silu in place": lambda x: F.silu(x, inplace=True),
    "nn.SiLU": nn.SiLU(),
    "gelu": F.gelu,
    "nn.GELU tanh": nn.GELU("tanh"),
    "elu": F.elu,
    "nn.ELU in place": nn.ELU(0.5, inplace=True),
    "celu": lambda x: F.celu(x, 0.7),
    "nn.CELU in place": nn.CELU(inplace=True),
    "selu": F.selu,
    "nn.SELU": nn.SELU(),
    "nn.SELU in place": nn.SELU(inplace=True),
    "softplus": F.softplus,
    "nn.Softplus": nn.Softplus(2, 5),
    "nn.Mish": nn.Mish(),
    "mish in place": lambda x: F.mish(x, inplace=True),
    "logsigmoid": F.logsigmoid,
    "nn.LogSigmoid": nn.LogSigmoid(),
    "leaky_relu": F.leaky_relu,
    "nn.LeakyReLU in place": nn.LeakyReLU(0.2, inplace=True),
    "nn.PReLU": nn.PReLU(),
    "nn.Threshold": nn.Threshold(0.1, -0.5),
    "exp": torch.exp,
    "exp2": torch.exp2,
    "log of exp": lambda x: torch.log(torch.exp(x)),
    "log1p": lambda x: torch.log1p(x.abs()),
    "sqrt": lambda x: x.abs().sqrt(),
    "rsqrt": lambda x: torch.rsqrt(x.abs() + 0.5),
    "reciprocal": lambda x: torch.reciprocal(x + 4),
    "1 / x": lambda x: 1 / (x + 4),
    "3 / x": lambda x: 3 / (x + 4),
    "abs": torch.abs,
    "abs_": lambda x: x.abs_(),
    "-x": lambda x: -x,
    "square": torch.square,
    "x ** 2": lambda x: x**2,
    "x ** 0.5": lambda x: x.abs() ** 0.5,
    "2 ** x": lambda x: 2**x,
    "round": torch.round,
    "sin": torch.sin,
    "cos": torch.cos,
    "erf": torch.erf,
    "x + 1": lambda x: x + 1,
    "1.5 + x": lambda x: 1.5 + x,
    "x += 2": lambda x: x.add_(2),
    "alpha": lambda x: torch.add(x, 2.5, alpha=3),
    "x - 0.25": lambda x: x - 0.25,
    "6 - x": lambda x: 6 - x,
    "rsub": lambda x: torch.rsub(x, 6.0, alpha=2),
    "x * 0.5": lambda x: x * 0.5,
    "-2 * x": lambda x: -2 * x,
    "x *= 3": lambda x: x.mul_(3),
    "x / 6": lambda x: x / 6,
    "x /= 7": lambda x: x.div_(7),
    "x // 2": lambda x: x // 0.5,
    "x % 2": lambda x: x % 2,
    "a tensor of one number": lambda x: torch.tensor(1.5) - x,
    "a tensor of one integer": lambda x: x * torch.tensor([2]),
    "torch.minimum": lambda x: torch.minimum(x, torch.tensor(0.3)),
    "hardshrink": F.hardshrink,
    "nn.Hardshrink": nn.Hardshrink(0.3),
    "softshrink": F.softshrink,
    "nn.Softshrink": nn.Softshrink(0.25),
    "rrelu": F.rrelu,
    "nn.RReLU in place": nn.RReLU(0.1, 0.4, inplace=True),
    "deg2rad": torch.deg2rad,
    "rad2deg_": lambda x: x.rad2deg_(),
    "round to digits": lambda x: torch.round(x, decimals=1),
    "special.round": lambda x: torch.special.round(x * 20, decimals=-1),
    "nan_to_num": lambda x: torch.nan_to_num(1 / x, 0.0, 9.0, -9.0),
    "copysign": lambda x: torch.copysign(x, -2.0),
    "angle": torch.angle,
    "xlogy": lambda x: torch.xlogy(x, 3.0),
    "xlogy of two": lambda x: torch.xlogy(2, x.abs() + 0.1),
    "special.xlog1py": lambda x: torch.special.xlog1py(x, 3.0),
    "logit": lambda x: torch.logit(torch.sigmoid(x) * 0.8 + 0.1),
    "float_power": lambda x: torch.float_power(x, 2).float(),
    "number.float_power": lambda x: torch.float_power(2, x).to(torch.float32),
    "special.ndtr": torch.special.ndtr,
    "special.i0e": torch.special.i0e,
    "lgamma": lambda x: torch.special.gammaln(x.abs() + 0.5),
    "hypot": lambda x: torch.hypot(x, torch.tensor(0.7)),
    "fmin": lambda x: torch.fmin(x, torch.tensor(0.7)),
    "fmax of a transpose of a dimension": lambda x: torch.fmax(x.transpose(2, -2), torch.tensor(0.7)),
    "addcmul with a number": lambda x: torch.addcmul(torch.tensor(1.0), x, torch.tensor(0.5), value=2),
    "lerp to a number": lambda x: torch.lerp(x, torch.tensor(2.0), 0.3),
    "clamp_min": lambda x: (x * 2).clamp_min(-0.2),
    "clamp_max": lambda x: (x + 0.1).clamp_max(0.2),
}


class Own(nn.Module):
    """A function of a tensor of its own, which it may write."""

    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, x):
        return self.function(x * 1.0)


class Several(nn.Module):
    """Functions of one input."""

    def __init__(self, functions):
        super().__init__()
        self.functions = nn.ModuleList(
            f if isinstance(f, nn.Module) and not getattr(f, "inplace", False) else Own(f) for f in functions
        )

    def forward(self, x):
        return tuple(function(x) for function in self.functions)


NAMES = list(FORMS)
CHUNKS = [NAMES[start : start + MAX_IO - 1] for start in range(0, len(NAMES), MAX_IO - 1)]


@pytest.mark.parametrize("names", CHUNKS, ids=lambda names: names[0])
def test_every_form_is_one_look_up(names):
    torch.manual_seed(3)
    module = Several([FORMS[name] for name in names])
    distances, graph = steps_apart(module, torch.randn(1, 3, 5, 4) * 2)
    assert dict(zip(names, distances)) == dict.fromkeys(names, 0)
    ops = [node.op for node in graph.nodes]
    assert sorted(ops) == ["dequantize"] * len(names) + ["lookup"] * len(names) + ["quantize"]


def test_functions_between_layers():
    """Written by hand, of constants with one element, before and after what moves values, and with a clamp."""
    torch.manual_seed(4)
    conv = nn.Conv2d(3, 4, 3, padding=1)
    linear = nn.Linear(4, 4)
    scale, shift = nn.Parameter(torch.full((1,), 0.7)), nn.Parameter(torch.tensor(-0.3))

    class Network(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.linear, self.scale, self.shift = conv, linear, scale, shift

        def forward(self, x):
            x = self.conv(x)
            x = x * torch.sigmoid(x)
            x = x * F.relu6(x + 3) / 6
            x = F.relu(self.scale * x + self.shift)
            x = F.silu(x.flatten(2).reshape(1, 4, 8, 4)).mean((2, 3))
            return F.gelu(self.linear(x))

    (distance,), graph = steps_apart(Network(), torch.randn(1, 3, 4, 8))
    assert distance <= 1
    ops = [node.op for node in graph.nodes]
    expected = "quantize conv2d lookup mul lookup mul lookup avg_pool2d fully_connected lookup dequantize"
    assert " ".join(ops) == expected
    assert graph.nodes[6].attrs.functions == ("div", "mul", "add", "silu")


def test_sigmoid_and_tanh_have_the_scales_of_their_range():
    _, graph = steps_apart(Function(lambda x: (torch.sigmoid(x), torch.tanh(x))), torch.randn(2, 5))
    lookups = [node for node in graph.nodes if node.op == "lookup"]
    assert [(node.output.scale, node.output.zero_point) for node in lookups] == [(1 / 256, -128), (1 / 128, 0)]


def test_one_number_in_two_partitions():
    a, b = nn.Linear(4, 4), nn.Linear(4, 4)
    result = lowered(Function(lambda x: b(in_float(a(x) * 0.3)) * 0.3, a=a, b=b), torch.randn(4, 4))
    assert len(result.delegates) == 2 and all("atan2" in name for name in result.outside)
