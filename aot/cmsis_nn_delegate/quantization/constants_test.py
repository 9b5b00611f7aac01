"""What forward computes of constants alone becomes a constant, and nothing else does."""

import pytest
import torch
from torch import nn

from cmsis_nn_delegate.quantization.constants import fold_constants
from cmsis_nn_delegate.quantization.prepare import quantizable_module
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from cmsis_nn_delegate.testing.lowering import Branch, Function, branches_apart

make_torch_faster()

X = torch.linspace(-5, 5, 24).reshape(2, 3, 4)


class Counter(nn.Module):
    """Counts its calls in a buffer."""

    def __init__(self):
        super().__init__()
        self.register_buffer("count", torch.zeros(1))

    def forward(self, x):
        self.count.add_(torch.ones_like(self.count))
        return x * (self.count * torch.full((1,), 2.0) + torch.ones(1))


def calls(module, *inputs, trained=False):
    """The operators that are left after folding; the result must be the module's."""
    wanted = module(*inputs)
    graph = quantizable_module(torch.export.export(module, inputs))
    fold_constants(graph, trained)
    torch.testing.assert_close(graph(*inputs), wanted)
    return [str(node.target).removeprefix("aten.") for node in graph.graph.nodes if node.op == "call_function"]


WEIGHT = nn.Parameter(torch.rand(2, 4))
CONSTANTS = {
    "zeros": (lambda m, x: x + torch.zeros(3, 4), ["add.Tensor"]),
    "full like an activation": (lambda m, x: x + torch.full_like(x * 2, 0.5), ["add.Tensor"]),
    "of an activation's type": (lambda m, x: x + x.new_ones(4) * 3, ["add.Tensor"]),
    "chain": (lambda m, x: x * torch.arange(4.0).div(4).exp(), ["mul.Tensor"]),
    "two parts": (lambda m, x: x * torch.arange(8.0).chunk(2)[1], ["mul.Tensor"]),
    "normalized weight": (lambda m, x: nn.functional.linear(x, m.weight / m.weight.norm()), ["linear.default"]),
    "random": (lambda m, x: x + 0 * torch.rand(4), ["rand.default", "mul.Tensor", "add.Tensor"]),
}


@pytest.mark.parametrize("name", CONSTANTS)
def test_what_is_folded(name):
    function, left = CONSTANTS[name]
    module = Function(lambda x: function(module, x))
    module.weight = WEIGHT
    assert calls(module, X) == left


def test_written_buffers_are_no_constants():
    module = Counter()
    graph = quantizable_module(torch.export.export(module, (X,)))
    fold_constants(graph)
    assert "aten.ones_like" not in str(graph.graph)  # which reads no more than the shape
    for _ in range(3):
        torch.testing.assert_close(graph(X), module(X))


def test_weights_that_are_trained_are_no_constants():
    module = Function(lambda x: nn.functional.linear(x, module.weight / 2) + torch.ones(2) * 2)
    module.weight = WEIGHT
    assert calls(module, X, trained=True) == ["div.Tensor", "linear.default", "add.Tensor"]


BRANCHES = {
    "clamp to tensors": lambda x: x.clamp(torch.full_like(x, -1.0), torch.full_like(x, 2.0)),
    "clamp to one tensor": lambda x: torch.clamp(x, max=torch.full((4,), 2.0)),
    "add of a computed constant": lambda x: x + torch.arange(4.0) / 4,
}


@pytest.fixture(scope="module")
def apart():
    return branches_apart({name: Branch(Function(function), (X.clone(),)) for name, function in BRANCHES.items()})


@pytest.mark.parametrize("name", BRANCHES)
def test_lowered(apart, name):
    assert apart[name].distance <= 1
    first, *kernels, last = apart[name].ops
    assert (first, len(kernels), last) == ("quantize", 1, "dequantize")
