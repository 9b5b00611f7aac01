"""CmsisNnQuantizer: which tensors are quantized, with which parameters."""

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster

make_torch_faster()

Q = torch.ops.quantized_decomposed.quantize_per_tensor.default
DQ = torch.ops.quantized_decomposed.dequantize_per_tensor.default
DQ_CHANNEL = torch.ops.quantized_decomposed.dequantize_per_channel.default


def convert(module, *inputs, observer="minmax", **options):
    torch.manual_seed(0)
    graph = torch.export.export(module.eval(), inputs).module(check_guards=False)
    prepared = prepare_pt2e(graph, CmsisNnQuantizer(observer, **options))
    prepared(*inputs)
    return convert_pt2e(prepared)


def nodes(model, target):
    return [n for n in model.graph.nodes if n.target == target]


def names(model):
    """The operators without q/dq, in order."""
    quant = (Q, DQ, DQ_CHANNEL)
    return [n.target._opname for n in model.graph.nodes if n.op == "call_function" and n.target not in quant]


def attribute(model, node):
    return getattr(model, node.target)


class Function(nn.Module):
    def __init__(self, function):
        super().__init__()
        self.function = function

    def forward(self, *args):
        return self.function(*args)


@pytest.mark.parametrize("observer", ["histogram", "minmax"])
@pytest.mark.parametrize(
    "module, shape",
    [
        (nn.Conv2d(3, 4, 3), (1, 3, 5, 5)),
        (nn.Conv2d(4, 8, 3, groups=4, bias=False), (1, 4, 5, 5)),
        (nn.Linear(6, 4), (2, 6)),
    ],
)
def test_weights_are_per_channel_and_bias_scale_is_their_product(module, shape, observer):
    model = convert(module, torch.randn(shape), observer=observer)
    weight, *bias = nodes(model, DQ_CHANNEL)
    assert weight.args[3:7] == (0, -127, 127, torch.int8)
    assert attribute(model, weight.args[0]).dtype == torch.int8
    assert not attribute(model, weight.args[2]).any()
    read, _ = nodes(model, DQ)  # the input and the output
    assert read.args[3:] == (-128, 127, torch.int8)
    assert len(bias) == (module.bias is not None)
    for node in bias:
        assert attribute(model, node.args[0]).dtype == torch.int32
        torch.testing.assert_close(
            attribute(model, node.args[1]).to(torch.float64),
            attribute(model, weight.args[1]).to(torch.float64) * read.args[1],
            rtol=1e-6,
            atol=0,
        )


def test_linear_weights_per_tensor():
    class Both(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv, self.linear = nn.Conv2d(2, 3, 1), nn.Linear(12, 5)

        def forward(self, x):
            return self.linear(self.conv(x).flatten(1))

    model = convert(Both(), torch.randn(1, 2, 2, 2), linear_weights="per-tensor")
    (linear,) = nodes(model, torch.ops.aten.linear.default)
    activation, weight, bias = linear.args
    assert weight.target is bias.target is DQ
    assert weight.args[2:] == (0, -127, 127, torch.int8)
    assert attribute(model, bias.args[0]).dtype == torch.int32
    assert bias.args[1] == pytest.approx(weight.args[1] * activation.args[1], rel=1e-6)
    # Of the convolution alone.
    assert len(nodes(model, DQ_CHANNEL)) == 2


def test_unknown_linear_weights_are_named():
    with pytest.raises(ValueError, match="unknown linear weights 'per-row'; choose one of per-channel"):
        CmsisNnQuantizer(linear_weights="per-row")


ACTIVATIONS = {
    "relu": F.relu,
    "relu6": F.relu6,
    "hardtanh": F.hardtanh,
    "clamp": lambda x: torch.clamp(x, -0.25, 0.5),
    "relu_": F.relu_,
    "hardtanh_": F.hardtanh_,
    "clamp_": lambda x: x.clamp_(min=0.1),
}


@pytest.mark.parametrize("act", ACTIVATIONS)
@pytest.mark.parametrize("op", ["conv", "linear", "add"])
def test_activation_fuses_with_its_producer(op, act):
    module = {"conv": nn.Conv2d(2, 3, 1), "linear": nn.Linear(4, 4), "add": None}[op]
    first = module if module is not None else (lambda x: x + x)
    model = convert(Function(lambda x: ACTIVATIONS[act](first(x))), torch.randn(1, 2, 4, 4))
    clamp = nodes(model, Q)[-1].args[0]
    producer = clamp.args[0]
    assert producer.target not in (Q, DQ) and len(nodes(model, Q)) == 2


def test_activation_with_two_readers_of_its_input_is_not_fused():
    conv = nn.Conv2d(2, 3, 1)

    def f(x):
        y = conv(x)
        return F.relu(y) + y

    model = convert(Function(f), torch.randn(1, 2, 4, 4))
    (relu,) = nodes(model, torch.ops.aten.relu.default)
    assert relu.args[0].target == DQ
    # Shared parameters: a clamp that stands alone does not requantize.
    (after,) = relu.users
    assert relu.args[0].args[1:3] == after.args[1:3]


SHARED = {
    "avg_pool2d": lambda x: F.avg_pool2d(x, 2),
    "adaptive": lambda x: F.adaptive_avg_pool2d(x, 1),
    "mean": lambda x: x.mean((2, 3)),
    "max_pool2d": lambda x: F.max_pool2d(x, 2),
    "view": lambda x: x.view(1, -1),
    "flatten": lambda x: x.flatten(1),
    "pad": lambda x: F.pad(x, (1, 2, 0, 1)),
    "relu": F.relu,
}


@pytest.mark.parametrize("name", SHARED)
def test_value_preserving_operators_share_parameters(name):
    model = convert(Function(SHARED[name]), torch.randn(1, 3, 4, 4))
    before, after = nodes(model, Q)
    assert before.args[1:] == after.args[1:]


class WithConstant(nn.Module):
    """A function of an input and a buffer."""

    def __init__(self, function, constant):
        super().__init__()
        self.function = function
        self.register_buffer("constant", constant)

    def forward(self, x):
        return self.function(x, self.constant)


# With an outlier, which the histogram observer clips in activations.
CONSTANT = torch.cat([torch.linspace(-1, 1, 999), torch.tensor([64.0])])
CONSTANTS = {
    "buffer": (lambda x, c: x + c, CONSTANT),
    "first operand": (lambda x, c: c * x, CONSTANT),
    "view": (lambda x, c: x * c.view(1, -1), CONSTANT),
    "computed": (lambda x, c: x - c / 2, CONSTANT / 2),
    "divisor": (lambda x, c: x / (3 + c), 1 / CONSTANT - 3),
    "tiny": (lambda x, c: x * c, 1e-7 * CONSTANT),
}


@pytest.mark.parametrize("observer", ["histogram", "minmax"])
def test_constant_operands_have_their_own_range(observer):
    for name, (function, constant) in CONSTANTS.items():
        module = WithConstant(function, constant)
        model = convert(module, torch.rand(2, 1000), observer=observer)
        assert len(nodes(model, Q)) == 2, name  # the input and the output: constants are folded
        read = [node for node in nodes(model, DQ) if node.args[0].op == "get_attr"]
        ((low, high),) = [((-128 - node.args[2]) * node.args[1], (127 - node.args[2]) * node.args[1]) for node in read]
        wanted = {"computed": CONSTANT / 4, "divisor": CONSTANT}.get(name, constant)
        assert high == pytest.approx(wanted.max().item(), rel=0.02) and low <= 0, name


def test_a_division_by_a_constant_is_a_product_and_other_divisions_stay():
    by_constant = convert(WithConstant(lambda x, c: x / c, CONSTANT), torch.rand(2, 1000))
    assert names(by_constant) == ["mul"]
    rounded = convert(WithConstant(lambda x, c: torch.div(x, c, rounding_mode="floor"), CONSTANT), torch.rand(2, 1000))
    assert names(rounded) == ["div"]
    of_constant = convert(WithConstant(lambda x, c: c / (1 + x), CONSTANT), torch.rand(2, 1000))
    assert names(of_constant)[-1] == "div"


def test_softmax_output_is_fixed():
    model = convert(Function(lambda x: F.softmax(x, 1)), torch.randn(2, 5))
    assert nodes(model, Q)[-1].args[1:] == (1 / 256, -128, -128, 127, torch.int8)


def test_what_follows_softmax_reads_its_parameters():
    model = convert(Function(lambda x: F.softmax(x, 1).flatten(0)), torch.randn(2, 5))
    assert [n.args[1:3] for n in nodes(model, Q)[1:]] == [(1 / 256, -128)] * 2


def test_batch_norm_and_dropout_disappear():
    module = nn.Sequential(
        nn.Conv2d(2, 4, 3, padding="same"),
        nn.BatchNorm2d(4),
        nn.ReLU(inplace=True),
        nn.Dropout(),
        nn.Flatten(),
        nn.Linear(64, 8),
        nn.BatchNorm1d(8),
        nn.Identity(),
    )
    for norm in (module[1], module[6]):
        norm.running_mean.uniform_(-1, 1)
        norm.running_var.uniform_(0.5, 2)
    x = torch.randn(2, 2, 4, 4)
    model = convert(module, x)
    assert names(model) == ["conv2d", "relu", "flatten", "linear"]
    torch.testing.assert_close(model(x), module.eval()(x), atol=0.1, rtol=0.1)


def test_same_padding_with_an_even_kernel_becomes_a_pad():
    module = nn.Conv2d(2, 4, (2, 4), padding="same", dilation=(1, 3))
    x = torch.randn(1, 2, 6, 7)
    model = convert(module, x)
    assert names(model) == ["constant_pad_nd", "conv2d"]
    torch.testing.assert_close(model(x), module(x), atol=0.1, rtol=0.1)


def test_unknown_operators_stay_float():
    model = convert(Function(lambda x: torch.atan2(torch.atan2(x, x), x)), torch.randn(2, 3))
    assert not nodes(model, Q)


def test_dead_channels_keep_their_bias():
    conv = nn.Conv2d(1, 3, 1)
    with torch.no_grad():
        conv.weight[1] = 0
        conv.bias[:] = torch.tensor([0.5, 3.0, -1.0])
    x = torch.randn(1, 1, 4, 4)
    torch.testing.assert_close(convert(conv, x)(x), conv(x), atol=0.05, rtol=0.0)


def test_constant_input_gives_finite_parameters():
    model = convert(nn.Conv2d(1, 2, 1, bias=False), torch.zeros(1, 1, 2, 2))
    assert all(2**-20 <= n.args[1] < 1 for n in nodes(model, Q))


def test_unknown_observer_is_named():
    with pytest.raises(ValueError, match="'mean'.*histogram, minmax"):
        CmsisNnQuantizer("mean")
