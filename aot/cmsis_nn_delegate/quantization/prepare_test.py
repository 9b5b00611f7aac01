"""Rewrites before quantization keep the function of the module."""

import pytest
import torch
from torch import nn
from torchao.quantization.pt2e.quantize_pt2e import prepare_pt2e

from cmsis_nn_delegate.quantization.prepare import quantizable_module
from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster

make_torch_faster()

CONV = torch.ops.aten.conv2d.default
NORM = torch.ops.aten.batch_norm.default


class Layers(nn.Module):
    """A function of layers and of an image; batch norms are far from the identity."""

    def __init__(self, function, bias=True):
        super().__init__()
        torch.manual_seed(0)
        self.function = function
        self.c = nn.Conv2d(3, 4, 3, bias=bias)
        self.linear = nn.Linear(4, 4, bias=bias)
        self.up = nn.ConvTranspose2d(3, 4, 2, bias=bias)
        self.b, self.b2 = nn.BatchNorm2d(4), nn.BatchNorm2d(4)
        self.n, self.n2 = nn.BatchNorm1d(4), nn.BatchNorm1d(4)
        for norm in (self.b, self.b2, self.n, self.n2):
            norm.running_mean.uniform_(-1, 1)
            norm.running_var.uniform_(0.2, 0.4)
            nn.init.uniform_(norm.weight, 2, 3)
            nn.init.uniform_(norm.bias, -1, 1)

    def forward(self, x):
        return self.function(self, x)


def exported(module, x):
    return torch.export.export(module.eval(), (x,))


def residual(m, x):
    y = m.c(x)
    return m.b(y) + y


def two_norms_of_one_output(m, x):
    y = m.c(x)
    return m.b(y) + m.b2(y)


def linear(m, x):
    y = m.linear(x[:, :, 0, 0].repeat(1, 2)[:, :4])
    return m.n(y) + m.n2(y) * y


def transposed(m, x):
    return m.b(m.up(x)) + m.b2(m.up(x)) + m.up(x)


def written_through_a_view(m, x):
    y = m.c(x)
    y.view(-1).add_(1.0)
    return m.b(y)


def written_afterwards(m, x):
    y = m.c(x)
    z = m.b(y)
    y.relu_()
    return z + y


CASES = {
    "residual": residual,
    "shared_layer": lambda m, x: m.b(m.c(x)) + m.b2(m.c(x)),
    "shared_layer_and_norm": lambda m, x: m.b(m.c(x)) + m.b(m.c(-x)),
    "with_and_without": lambda m, x: m.b(m.c(x)) + m.c(x),
    "without_and_with": lambda m, x: m.c(x) + m.b(m.c(x)),
    "two_norms": two_norms_of_one_output,
    "norm_is_returned_with_its_input": lambda m, x: (m.c(x), m.b(m.c(x))),
    "linear": linear,
    "transposed": transposed,
    "written_through_a_view": written_through_a_view,
    "written_afterwards": written_afterwards,
    "simple": lambda m, x: m.b(m.c(x)),
}


@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_prepared_modules_compute_what_the_module_does(case, bias):
    module, x = Layers(CASES[case], bias), torch.randn(2, 3, 6, 6)
    wanted = module.eval()(x)
    graph = quantizable_module(exported(module, x))
    torch.testing.assert_close(graph(x), wanted)
    # Before calibration observers change nothing: what differs was folded wrongly.
    torch.testing.assert_close(prepare_pt2e(graph, CmsisNnQuantizer())(x), wanted)
    torch.testing.assert_close(module(x), wanted)


def test_what_is_separate_stays_as_it_is():
    program = exported(Layers(CASES["simple"]), torch.randn(1, 3, 6, 6))
    graph = program.module(check_guards=False).graph
    before = [(node.op, node.target) for node in graph.nodes if node.users]
    after = quantizable_module(program).graph.nodes
    assert [(node.op, node.target) for node in after if node.users] == before


@pytest.mark.parametrize("case, layers", [("residual", 2), ("two_norms", 2), ("shared_layer", 2)])
def test_all_batch_norms_are_folded(case, layers):
    program = exported(Layers(CASES[case]), torch.randn(1, 3, 6, 6))
    prepared = prepare_pt2e(quantizable_module(program), CmsisNnQuantizer())
    targets = [node.target for node in prepared.graph.nodes]
    assert targets.count(CONV) == layers and NORM not in targets
