"""Scales that concatenations share, in networks where they are tangled."""

import random

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster

make_torch_faster()

aten = torch.ops.aten
Q = torch.ops.quantized_decomposed.quantize_per_tensor.default
DQ = torch.ops.quantized_decomposed.dequantize_per_tensor.default
SOFTMAX = (1 / 256, -128)


class Function(nn.Module):
    def __init__(self, function, **modules):
        super().__init__()
        self.function = function
        for name, module in modules.items():
            setattr(self, name, module)

    def forward(self, *args):
        return self.function(*args)


def convert(function, *inputs, **modules):
    graph = torch.export.export(Function(function, **modules).eval(), inputs).module(check_guards=False)
    prepared = prepare_pt2e(graph, CmsisNnQuantizer("minmax"))
    prepared(*inputs)
    return convert_pt2e(prepared)


def concats(model):
    """Of each concatenation, the parameters of its inputs, and those of its output."""
    for node in model.graph.nodes:
        if node.target is aten.cat.default:
            assert all(source.target is DQ for source in node.args[0])
            (quantize,) = node.users
            assert quantize.target is Q
            yield [source.args[1:3] for source in node.args[0]], quantize.args[1:3]


def random_concats(seed, inputs=3, steps=14):
    """A function of concatenations, sums, activations and softmax, each of any results before it."""
    choose = random.Random(seed)
    plan = []
    for index in range(inputs, inputs + steps):
        kind = choose.choice(["cat", "cat", "cat", "relu", "softmax", "add", "flatten"])
        plan.append((kind, [choose.randrange(index) for _ in range(choose.randrange(1, 4))]))

    def function(*tensors):
        values = list(tensors)
        for kind, sources in plan:
            x, *others = (values[source] for source in sources)
            if kind == "cat":
                values.append(torch.cat([x, *others]))
            elif kind == "add":
                values.append(x + x)
            else:
                values.append({"relu": F.relu, "softmax": lambda x: F.softmax(x, 1), "flatten": torch.clone}[kind](x))
        return tuple(values[inputs:])

    return function


@pytest.mark.parametrize("seed", range(12))
def test_tangled_concatenations_have_one_scale_each(seed):
    inputs = [torch.randn(1, 4) for _ in range(3)]
    for sources, output in concats(convert(random_concats(seed), *inputs)):
        assert {output} == set(sources)


def test_the_same_inputs_in_another_order():
    """PT2E alone would recurse without end."""
    linear = nn.Linear(4, 4)

    def both(x, z):
        y = linear(z)
        return torch.cat([x, y]), torch.cat([y, x])

    found = list(concats(convert(both, torch.randn(1, 4), torch.randn(1, 4), linear=linear)))
    assert len({output for _, output in found}) == 1 and len(found) == 2


def test_a_fixed_scale_stays_with_its_producer():
    def both(x):
        y = F.softmax(x, 1)
        return torch.cat([y, x]), torch.cat([x, y.view(1, 4)])

    model = convert(both, torch.randn(1, 4) * 9)
    for sources, output in concats(model):
        assert {output} == set(sources) and output != SOFTMAX
    softmax = next(node for node in model.graph.nodes if node.target is aten.softmax.int)
    assert {user.args[1:3] for user in softmax.users} == {SOFTMAX}


def test_inputs_of_one_fixed_scale_keep_it():
    model = convert(lambda x, y: torch.cat([F.softmax(x, 1), F.softmax(y, 1)]), torch.randn(1, 4), torch.randn(1, 4))
    assert list(concats(model)) == [([SOFTMAX] * 2, SOFTMAX)]


def test_a_concatenation_of_floats_stays_float():
    model = convert(lambda x: torch.cat([torch.atan2(x, x), x]), torch.randn(1, 4))
    assert not any(node.target is Q for node in model.graph.nodes)
