"""Functions that depend on a condition, in int8 and in one delegate call."""

import pytest
import torch
from torch import nn

from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.testing.lowering import Branch, Function, branches_apart

INPUT = (1, 3, 4, 5)


def branch(function, *shapes):
    return Branch(Function(function), tuple(torch.randn(shape) for shape in (INPUT, *shapes)))


CONDITIONS = {
    "a number below": lambda: branch(lambda x: torch.where(x > 0.2, x, -0.5)),
    "a number above": lambda: branch(lambda x: torch.where(x <= 0.2, 1.5, x * 0.3)),
    "two numbers": lambda: branch(lambda x: x * torch.where(x < 0.2, 0.25, 0.75)),
    "two tensors": lambda: branch(lambda x, y: torch.where(x >= y, x * 2, y), INPUT),
    "of one row": lambda: branch(lambda x, y: torch.where(y > 0, x, 0.0), (1, 1, 1, 5)),
    "filled in": lambda: branch(lambda x: x.masked_fill(x.abs() > 1, 0.0)),
    "filled in place": lambda: branch(lambda x: (x + 0.5).masked_fill_(x < 0, 0.7)),
    "both": lambda: branch(lambda x: x * ((x > -1) & (x < 0.5))),
    "one of them": lambda: branch(lambda x, y: torch.where((x > 1) | (y > 0.5), x, 0.1 * x), (1, 3, 1, 1)),
    "not": lambda: branch(lambda x: torch.where(~(x > 0), x, 0.0)),
    "as a float": lambda: branch(lambda x: (x > 0.1).float() * x.square()),
    "of booleans": lambda: Branch(
        Function(lambda x, m: x.masked_fill(m.unsqueeze(1), 0.0)), (torch.randn(INPUT), torch.randn(1, 4, 5) > 0)
    ),
    "constant": lambda: branch(lambda x: torch.where(torch.arange(5) > 2, x, 0.0)),
}


def test_conditions():
    torch.manual_seed(5)
    for name, apart in branches_apart({name: make() for name, make in CONDITIONS.items()}).items():
        # A step of each of two products and a sum, where the condition is the same.
        assert apart.distance <= 2, name


class Chosen(nn.Module):
    def __init__(self, choose):
        super().__init__()
        self.choose = choose

    def forward(self, x, other):
        return self.choose(torch.relu(x), other)


@pytest.mark.parametrize(
    "choose, other",
    [
        (lambda x, n: torch.where(n > 0, x, 0.0), torch.tensor([[3, 0, 2, 0]])),
        (lambda x, y: torch.where(torch.logical_and(x, y), x, 0.0), torch.tensor([[1.0, 0.0, 1.0, 0.0]])),
        (lambda x, y: torch.where(torch.logical_or(x, y), x, 1.0), torch.tensor([[1.0, 0.0, 1.0, 0.0]])),
        (lambda x, d: torch.softmax(x + d * -200.0, -1), torch.tensor([[0.0, 0.003, 0.01, 1.0]])),
    ],
    ids=["integers", "and", "or", "distances"],
)
def test_numbers_that_are_no_truths(choose, other):
    """Whatever is delegated, the results are those of the model: the numbers are not taken for 0 and 1."""
    x = torch.tensor([[1.0, 1.0, 0.5, 0.0]])
    module = Chosen(choose)
    compiled = compile_model(module, (x, other), "cortex-m55", [(x, other)])
    (result,) = compiled.program.module(check_guards=False)(x, other)
    assert (result - module(x, other)).abs().max() < 0.05


def test_an_input_that_the_examples_show_as_a_mask_must_be_one():
    x, n = torch.rand(1, 4), torch.tensor([[1, 0, 1, 0]])
    module = Chosen(lambda x, n: torch.where(n > 0, x, 0.0))
    with pytest.raises(UserError, match="input other is 3 in sample 0 .* only 0 and 1 in the example inputs"):
        compile_model(module, (x, n), "cortex-m55", [(x, 3 * n)])
