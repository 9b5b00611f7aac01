"""Functions that depend on a condition, in int8 and in one delegate call."""

import torch

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
