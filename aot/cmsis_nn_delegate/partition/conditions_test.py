"""Functions that depend on a condition, branches and loops, in int8 and in one delegate call."""

import pytest
import torch
from torch import nn
from torch._higher_order_ops import associative_scan, scan, while_loop
from torch._higher_order_ops.map import map as map_

from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.quantization.configuration import Configuration
from cmsis_nn_delegate.quantization.prepare import quantizable_module, remove_identities
from cmsis_nn_delegate.quantization.rewrites import rewrite
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.testing.lowering import Branch, Branches, Function, branches_apart, lowered

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
    "one alone": lambda: branch(lambda x: torch.where((x > -1) ^ (x < 0.5), x, 0.0)),
    "one alone of two": lambda: branch(lambda x, y: torch.where(torch.logical_xor(x > 0, y > 0), x, 0.0), INPUT),
    "the same": lambda: branch(lambda x, y: x * ((x > 0) == (y > 0)), INPUT),
    "not the same": lambda: branch(lambda x, y: x * ((x > 0) != (y > 0)), INPUT),
    "any of a row": lambda: branch(lambda x: torch.where((x > 1.5).any(-1, keepdim=True), x, 0.0)),
    "all of an image": lambda: branch(lambda x: x * (x > -9).all(dim=(2, 3), keepdim=True)),
    "any at all": lambda: branch(lambda x: x * (x > 0.5).any()),
    "how many": lambda: branch(lambda x: x * (x > 0).sum(-1, keepdim=True)),
    "a share": lambda: branch(lambda x: x - (x > 0).sum((1, 2), keepdim=True) / 12),
    "sign bits": lambda: branch(lambda x: torch.where(torch.signbit(x), 0.0, x)),
    "never a NaN": lambda: branch(lambda x: torch.where(torch.isnan(x + 1) | torch.isinf(x + 1), 0.0, x + 1)),
    "always finite": lambda: branch(lambda x: torch.where(torch.isfinite(x * 2), x * 2, -1.0)),
    "filled where it is": lambda: branch(lambda x: (x * 1.0).index_put((x > 0.5,), torch.tensor(0.1))),
    "how many boundaries": lambda: branch(lambda x: (x.unsqueeze(-1) > torch.linspace(-1, 1, 4)).float().sum(-1)),
    "constant": lambda: branch(lambda x: torch.where(torch.arange(5) > 2, x, 0.0)),
}


def test_conditions():
    torch.manual_seed(5)
    branches = {name: make() for name, make in CONDITIONS.items()}
    for name, apart in branches_apart(branches).items():
        # A step of each of two products and a sum, where the condition is the same.
        assert apart.distance <= 2, name
    # In float, since a small error of a number decides a condition.
    module, inputs = Branches(list(branches.values())), [x for branch in branches.values() for x in branch.inputs]
    rewritten = quantizable_module(torch.export.export(module, tuple(inputs)))
    remove_identities(rewritten)
    rewrite(rewritten, Configuration())
    for name, found, wanted in zip(branches, rewritten(*inputs), module(*inputs)):
        torch.testing.assert_close(found, wanted, msg=name)


def test_numbers_that_are_not_finite_are_caught_as_the_model_says():
    """Also if the calibration data has none of them: in int8 all numbers are finite."""
    layer = nn.Linear(5, 5)
    nn.init.eye_(layer.weight)
    nn.init.zeros_(layer.bias)
    data = [(torch.rand(1, 5) * 3 + 0.3,) for _ in range(8)]
    for function, x in (
        (lambda x: torch.where(torch.isfinite(1 / x), 1 / x, 0.0), 0.0),
        (lambda x: torch.where(torch.isnan(torch.log(x)), -5.0, torch.log(x)), -1.0),
        (lambda x: torch.where(torch.isinf(0.5 + 1 / layer(x).abs()), -1.0, layer(x)), 0.0),
    ):
        module = Function(function, layer=layer)
        compiled = compile_model(module, data[0], "cortex-m55", data)
        for sample in (data[0][0], torch.full((1, 5), x)):
            (result,) = compiled.program.module(check_guards=False)(sample)
            torch.testing.assert_close(result, module(sample), atol=0.05, rtol=0)


def test_a_test_behind_a_layer_says_that_it_is_always_the_same():
    layer = nn.Linear(5, 5)
    module = Function(lambda x: torch.where(torch.isnan(layer(1 / x)), 0.0, layer(x)), layer=layer)
    x = torch.rand(1, 5) + 0.3
    (refused,) = [r for r in compile_model(module, (x,), "cortex-m55", [(x,)]).refused if "isnan" in r.target]
    assert "test what the layer reads" in refused.message


def test_branches_are_computed_and_chosen_from():
    """torch.cond, also one in another, with layers, and with a condition that is an input."""
    layer, after = nn.Linear(5, 5), nn.Linear(5, 3)

    def nested(x):
        return torch.cond(x.mean() > 0, lambda y: torch.cond(y.sum() > 9, torch.tanh, torch.relu, (y,)), layer, (x,))

    def chosen(x):
        a, b = torch.cond(x.amax() > 9, lambda y: (y * 2, y - 1), lambda y: (-y, y + 1), (x,))
        return torch.cat([a, b], -1)

    rows = torch.randn(2, 5)
    for sign in (1, -1):
        branches = {
            "nested": Branch(Function(lambda x: after(nested(layer(x))), layer=layer, after=after), (rows * sign,)),
            "two results": Branch(Function(lambda x: chosen(layer(x)), layer=layer), (rows * sign,)),
            "given": Branch(
                Function(lambda x, p: after(torch.cond(p, layer, torch.tanh, (x,))), layer=layer, after=after),
                (rows, torch.tensor(sign > 0)),
            ),
        }
        for name, apart in branches_apart(branches).items():
            assert apart.distance <= 2 and apart.error < 0.06, name


class Looping(nn.Module):
    """Loops of torch.export over what a layer computes."""

    def __init__(self, loop):
        super().__init__()
        self.first, self.body = nn.Linear(5, 5), nn.Linear(5, 5)
        self.loop = loop

    def forward(self, x):
        return self.loop(self.body, self.first(x))


def counted(body, y):
    step = lambda i, y: (i + 1, torch.tanh(body(y)))  # noqa: E731
    return while_loop(lambda i, y: i < 3, step, (torch.tensor(0), y))[1]


def scanned(body, y):
    def step(h, x):
        h = torch.tanh(body(h) + x)
        return h, h.clone()

    last, all_ = scan(step, torch.zeros(5), y)
    return all_ + last


LOOPS = {
    "while_loop with a counter": counted,
    "while_loop that does not run": lambda body, y: while_loop(
        lambda i, y: i < 0, lambda i, y: (i + 1, body(y)), (torch.tensor(0), y)
    )[1],
    "scan": scanned,
    "scan backwards": lambda body, y: scan(lambda h, x: (h * 0.5 + x, h + 0), torch.zeros(5), y, reverse=True)[1],
    "map": lambda body, y: map_(lambda row: torch.relu(body(row)), y),
    "associative_scan": lambda body, y: associative_scan(torch.maximum, body(y), 0, combine_mode="generic"),
    "vmap": lambda body, y: torch.vmap(lambda row: torch.tanh(body(row)))(y),
}


def test_loops_are_repeated():
    """Each turn is within a step of PyTorch's, and starts from the one before."""
    torch.manual_seed(0)
    branches = {name: Branch(Looping(loop), (torch.randn(4, 5),)) for name, loop in LOOPS.items()}
    for name, apart in branches_apart(branches).items():
        assert apart.distance <= 2 and apart.error < 0.06, name


@pytest.mark.parametrize(
    "goes_on, why",
    [
        (lambda i, y: y.abs().sum() > 1, "depends on values that only an inference knows.*torch.where"),
        (lambda i, y: i < 1000, "more than 64 turns are too many.*as state"),
    ],
    ids=["data", "too often"],
)
def test_loops_that_cannot_be_repeated_are_errors(goes_on, why):
    def loop(body, y):
        return while_loop(goes_on, lambda i, y: (i + 1, body(y) * 0.1), (torch.tensor(0), y))[1]

    with pytest.raises(UserError, match=rf"while_loop at conditions_test.py:\d+ .*{why}"):
        lowered(Looping(loop), torch.randn(2, 5))


def test_long_scans_are_errors_and_long_maps_stay_outside_unless_they_are_of_batches():
    x = torch.randn(65, 5)
    with pytest.raises(UserError, match=r"scan at conditions_test.py:\d+ .* over more than 64 .* as state"):
        lowered(Looping(scanned), x)
    assert not compile_model(Looping(LOOPS["vmap"]), (x,), "cortex-m55", [(x,)]).refused  # also compared with PyTorch
    (refused,) = compile_model(Looping(LOOPS["map"]), (x,), "cortex-m55", [(x,)]).refused
    assert refused.target == "map_impl" and "up to 64 times" in refused.message and "torch.vmap" in refused.message


def test_scans_of_unknown_length_are_errors():
    """Without a word about more elements than are allowed."""
    program = torch.export.export(
        Looping(scanned), (torch.randn(4, 5),), dynamic_shapes={"x": {0: torch.export.Dim("n", max=9)}}
    )
    with pytest.raises(UserError, match=r"scan at conditions_test.py:\d+ .* over a number .* not known: .* static"):
        quantizable_module(program)


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
