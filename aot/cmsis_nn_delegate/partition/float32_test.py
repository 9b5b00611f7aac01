"""`format: float32`: what the delegate computes in float in its call, how near to PyTorch, and what it refuses."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from cmsis_nn_delegate import CmsisNnQuantizer, QuantizationConfig
from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.edge.refusal import Reason
from cmsis_nn_delegate.graph.tensor_type import Element
from cmsis_nn_delegate.reference import run
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.testing.lowering import Function, exported, in_float, lower_program, lowered

FLOAT32 = QuantizationConfig(format="float32")
LEAST_SQNR = 100  # dB: 16 to 17 of the 24 bits


class Head(nn.Module):
    """With numbers, functions and a view in between."""

    def __init__(self):
        super().__init__()
        self.hidden = nn.Linear(72, 24)
        self.last = nn.Linear(24, 6)

    def forward(self, x):
        y = nn.functional.gelu(self.hidden(x.flatten(1)))
        return torch.softmax(self.last(1 - y * 0.5).view(-1, 2, 3) / 3.0, 1)


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Conv2d(2, 8, 3), nn.ReLU(), nn.MaxPool2d(2))
        self.head = Head()

    def forward(self, x):
        return self.head(self.body(x))


def in_float32(*names: str) -> CmsisNnQuantizer:
    quantizer = CmsisNnQuantizer("minmax")
    for name in names:
        quantizer.set_module_name(name, FLOAT32)
    return quantizer


def sqnr(found, wanted) -> float:
    noise = np.square(found.astype(np.float64) - wanted).mean()
    return 10 * np.log10(np.square(wanted.astype(np.float64)).mean() / max(noise, 1e-300))


def test_a_head_in_float32_is_in_the_one_call():
    torch.manual_seed(0)
    module, x = Network().eval(), torch.randn(1, 2, 8, 8)
    found = lowered(module, x, quantizer=in_float32("head"))
    assert not found.outside and len(found.delegates) == 1
    graph = found.graph()
    ops = [node.op for node in graph.nodes]
    first = ops.index("dequantize")
    assert ops[:first] == ["quantize", "conv2d", "max_pool2d"]
    assert all(value.element is Element.FLOAT32 for node in graph.nodes[first:] for value in node.outputs)
    # What the head reads is that of the call: the rest is the error of float32 alone.
    seen = {}
    (result,) = run(graph, [x.numpy()], lambda node, value, data: seen.update({node.op: data}))
    with torch.no_grad():
        wanted = module.head(torch.from_numpy(seen["dequantize"].reshape(1, 8, 3, 3))).numpy()
    assert sqnr(result, wanted) > LEAST_SQNR


WEIGHT = torch.linspace(-1, 1, 4 * 2 * 3 * 3).view(4, 2, 3, 3)
FACTORS = torch.arange(6.0)
BIAS = torch.ones(4)
GROUPED, SEQUENCE = WEIGHT[:, :1].clone(), WEIGHT[:, :, 0].clone()


def _attention(x, **options):
    rows = x.view(2, 1, 3, 5)
    return nn.functional.scaled_dot_product_attention(rows, 2 * rows, rows + 1, **options)


FUNCTIONS = {
    "relu": torch.relu,
    "relu6": nn.functional.relu6,
    "clamp": lambda x: x.clamp(-0.5, 0.7),
    "clamp with its limits the wrong way round": lambda x: x.clamp(1, 0.5),
    "clamp_min": lambda x: x.clamp_min(0.1),
    "leaky_relu": nn.functional.leaky_relu,
    "abs": torch.abs,
    "neg": torch.neg,
    "reciprocal": torch.reciprocal,
    "square": lambda x: x**2,
    "cube": lambda x: x**3,
    "sqrt": lambda x: x.abs().sqrt(),
    "rsqrt": lambda x: (x * x + 1e-5).rsqrt(),
    "exp": torch.exp,
    "log": lambda x: (x.abs() + 0.01).log(),
    "log2": lambda x: (x * x + 0.01).log2(),
    "log10": lambda x: (x * x + 0.01).log10(),
    "log1p": lambda x: (x * x).log1p(),
    "expm1": torch.expm1,
    "sigmoid": torch.sigmoid,
    "tanh": torch.tanh,
    "erf": torch.erf,
    "gelu": nn.functional.gelu,
    "gelu_tanh": lambda x: nn.functional.gelu(x, approximate="tanh"),
    "silu": nn.functional.silu,
    "hardsigmoid": nn.functional.hardsigmoid,
    "hardswish": nn.functional.hardswish,
    "elu": nn.functional.elu,
    "softplus": nn.functional.softplus,
    "add": lambda x: x + x[:, :1] + 1.5,
    "rsub": lambda x: 2 - x,
    "divide": lambda x: x / (x.abs() + 1) / 3,
    "extremes": lambda x: torch.maximum(x, -x) + torch.minimum(x, x * x),
    "softmax": lambda x: x.softmax(-1),
    "softmax over rows": lambda x: x.softmax(0),
    "log_softmax": lambda x: x.log_softmax(1),
    "product": lambda x: x @ x.t(),
    "product with what forward computes of constants": lambda x: x @ (torch.arange(10.0).view(5, 2) / FACTORS[4]),
    "batches": lambda x: torch.bmm(x.view(2, 3, 5), x.view(2, 5, 3)),
    "attention": lambda x: _attention(x),
    "attention to what comes before": lambda x: _attention(x, is_causal=True),
    "attention with a mask": lambda x: _attention(x, attn_mask=torch.eye(3, dtype=torch.bool)),
    "attention with numbers added": lambda x: _attention(x, attn_mask=WEIGHT[0, 0]),
    "chosen by a comparison": lambda x: (
        torch.where(x > 0.5, x, -2 * x[:, :1]) + torch.where(x.t() <= 0, 1.5, x.t()).t()
    ),
    "chosen by several": lambda x: torch.where((x > -0.5) & ~(x >= 0.5) | (x == x[:1]), x, 0.0) * (x != 0),
    "filled in where a row says so": lambda x: x.masked_fill((x < 0)[:, :3].flip(1)[:, 1:2], -float("inf")).exp(),
    "filled in before a softmax": lambda x: x.masked_fill(FACTORS[:5] > 3, -float("inf")).softmax(1),
    "a condition as numbers": lambda x: (x >= x.mean()).float(),
    "where the largest is": lambda x: x.argmax(1),
    "where the least of all is": lambda x: x.argmin(),
    "means": lambda x: x.mean(1, keepdim=True) + x.sum() + x.sum(0),
    "variance": lambda x: x.var(1) + x.var(1, correction=0),
    "largest": lambda x: x.amax(1) - x.amin(1),
    "layer norm": lambda x: nn.functional.layer_norm(x, (5,), FACTORS[:5], FACTORS[1:]),
    "group norm": lambda x: nn.functional.group_norm(x.view(1, 6, 5), 3, FACTORS),
    "instance norm": lambda x: nn.functional.instance_norm(x.view(1, 6, 5)),
    "RMS norm": lambda x: nn.functional.rms_norm(x, (5,), FACTORS[:5]),
    "convolution": lambda x: nn.functional.conv2d(x.view(1, 2, 3, 5), WEIGHT, BIAS, 2, 1),
    "groups": lambda x: nn.functional.conv2d(x.view(1, 2, 3, 5), GROUPED, groups=2, dilation=(1, 2)),
    "sequence": lambda x: nn.functional.conv1d(x.view(1, 2, 15), SEQUENCE, padding=1),
    "largest of windows": lambda x: nn.functional.max_pool2d(x.view(1, 2, 3, 5), 2, ceil_mode=True),
    "largest of a sequence": lambda x: nn.functional.max_pool1d(x.view(1, 2, 15), 3, 2, 1),
    "means of windows": lambda x: nn.functional.avg_pool2d(x.view(1, 2, 3, 5), 3, 2, 1),
    "means of what is inside": lambda x: nn.functional.avg_pool2d(x.view(1, 2, 3, 5), 3, 2, 1, count_include_pad=False),
    "adaptive means": lambda x: nn.functional.adaptive_avg_pool2d(x.view(1, 1, 6, 5), (3, 1)),
    "mean of images": lambda x: nn.functional.adaptive_avg_pool2d(x.view(1, 2, 3, 5), 1),
    "joined": lambda x: torch.cat((x, x * 2, FACTORS[:, None]), 1),
    "padded": lambda x: nn.functional.pad(x, (1, 2, 0, 1), value=0.25),
    "rolled": lambda x: x.roll(2, 0),
    "moves": lambda x: x.t()[1:].flip(0).contiguous().view(-1) * 2,
}


@pytest.mark.parametrize("names", [list(FUNCTIONS)[at::6] for at in range(6)])
def test_functions_are_as_near_to_pytorch_as_float32_is(names):
    """Several of them in a model, each with an output."""
    torch.manual_seed(1)
    module = Function(lambda x: tuple(FUNCTIONS[name](x) for name in names)).eval()
    x = torch.randn(6, 5)
    found = lowered(module, x, quantizer=CmsisNnQuantizer("minmax").set_global(FLOAT32))
    results = run(found.graph(), [x.numpy()])
    with torch.no_grad():
        wanted = module(x)
    for name, index, want in zip(names, found.output_indices, wanted):
        assert sqnr(results[index], want.numpy()) > LEAST_SQNR, name


def test_means_and_norms_of_images_are_as_near_as_those_of_few_numbers():
    """Of numbers far from 0, whose mean takes most of their bits away."""
    torch.manual_seed(2)
    functions = (nn.functional.instance_norm, lambda x: x.mean((2, 3)), lambda x: nn.functional.avg_pool2d(x, 64))
    # Added one after the other: 53, 90 and 120 dB.
    least = (LEAST_SQNR, LEAST_SQNR + 25, LEAST_SQNR + 25)
    module = Function(lambda x: tuple(function(x) for function in functions)).eval()
    x = 1 + 0.05 * torch.rand(1, 2, 300, 300)
    found = lowered(module, x, quantizer=CmsisNnQuantizer("minmax").set_global(FLOAT32))
    results = run(found.graph(), [x.numpy()])
    with torch.no_grad():
        wanted = module(x.double())
    for index, want, bound in zip(found.output_indices, wanted, least):
        assert sqnr(results[index], want.numpy()) > bound


def test_rows_of_a_table_are_those_of_pytorch():
    torch.manual_seed(3)

    class Chosen(nn.Module):
        def __init__(self):
            super().__init__()
            self.table = nn.Embedding(9, 7)

        def forward(self, indices):
            return self.table(indices) * 2, self.table.weight[indices[0]] * 2

    module, indices = Chosen().eval(), torch.tensor([[3, 0, 8], [1, 1, 5]])
    found = lowered(module, indices, quantizer=CmsisNnQuantizer("minmax").set_global(FLOAT32))
    results = run(found.graph(), [indices.numpy()])
    with torch.no_grad():
        wanted = module(indices)
    assert all((results[index] == want.numpy()).all() for index, want in zip(found.output_indices, wanted))


def test_what_only_moves_or_limits_values_stays_in_float32_behind_it():
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Unflatten(1, (2, 3)), nn.Flatten(2))
    found = lowered(module, torch.randn(1, 4), quantizer=in_float32("0"))
    assert [node.op for node in found.graph().nodes] == ["linear_float32", "function_float32"]
    assert not found.outside


def test_a_layer_between_others_is_quantized_again_behind_it():
    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(4, 6), nn.Linear(6, 6), nn.Linear(6, 3))
    found = lowered(module, torch.randn(1, 4), quantizer=in_float32("1"))
    assert [node.op for node in found.graph().nodes] == [
        "quantize",
        "fully_connected",
        "dequantize",
        "linear_float32",
        "quantize",
        "fully_connected",
        "dequantize",
    ]


def test_what_has_no_kernel_in_float32_stays_outside_and_says_so():
    module = Function(lambda x: torch.atan2(x, x + 1) * 2)
    found = lowered(module, torch.randn(2, 3), quantizer=CmsisNnQuantizer("minmax").set_global(FLOAT32))
    (refusal,) = [report for report in found.reports if not report.delegated]
    assert refusal.reason is Reason.UNSUPPORTED_OPERATOR and "in float32" in refusal.message


def test_float32_around_what_stays_outside_is_delegated_in_two_parts():
    """Also where the second part reads what the first one does."""
    torch.manual_seed(0)

    class Residual(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def forward(self, x):
            y = self.layer(x)
            return in_float(y) + torch.relu(y * 2)

    found = lowered(Residual(), torch.randn(2, 4), quantizer=CmsisNnQuantizer("minmax").set_global(FLOAT32))
    assert [report.reason for report in found.reports if not report.delegated] == [Reason.UNSUPPORTED_OPERATOR]
    assert len(found.delegates) == 2


def test_inputs_of_int8_are_given_to_a_model_with_a_head_in_float32_and_not_its_outputs():
    torch.manual_seed(0)
    x = torch.randn(1, 2, 8, 8)
    program = exported(Network(), x, quantizer=in_float32("head"))
    with pytest.raises(ValueError, match=r"output 0 .* cannot become int8"):
        lower_program(program, io="int8")


def test_inputs_and_outputs_of_int8_next_to_float32_name_the_format_and_the_way_out():
    x = torch.randn(1, 4)
    module = nn.Sequential(nn.Linear(4, 4), nn.Linear(4, 4))
    for name, what in ("0", "input input_1"), ("1", "output 0"):
        with pytest.raises(UserError, match=rf"{what}.* cannot become int8: .*`format: float32` .*`--io quantized`"):
            compile_model(module.eval(), (x,), "cortex-m4", [(x,)], io="int8", quantizer=in_float32(name))


def test_the_format_is_checked():
    with pytest.raises(UserError, match="float16"):
        QuantizationConfig(format="float16")
