"""Which sums that a model keeps become an operator, that they compute the same then, and what stays as it is."""

import copy

import numpy as np
import pytest
import torch
from torch import nn

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.edge import function_chain
from cmsis_nn_delegate.partition.spelled_out import spell_out_layers
from cmsis_nn_delegate.quantization.kept_sums import MOST, separate_kept_sums
from cmsis_nn_delegate.quantization.prepare import quantizable_module
from cmsis_nn_delegate.quantization.rewrites import REWRITES
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster

make_torch_faster()

SIZE = 6


class Keeps(nn.Module):
    """A state, and what forms of sums use."""

    def __init__(self, form):
        super().__init__()
        torch.manual_seed(0)
        self.form = form
        self.front, self.gate, self.out = nn.Linear(SIZE, SIZE), nn.Linear(SIZE, SIZE), nn.Linear(SIZE, SIZE)
        self.register_buffer("h", torch.linspace(-0.3, 0.4, SIZE)[None])
        self.decays = nn.Parameter(torch.linspace(0.3, 0.99, SIZE))
        self.rates = nn.Parameter(-torch.linspace(0.1, 2, 3 * SIZE).reshape(SIZE, 3))
        self.register_buffer("states", torch.zeros(1, SIZE, 3))

    def forward(self, x):
        return self.form(self, x)


def mean(m, x):
    m.h.lerp_(m.front(x), 0.1)
    return m.out(m.h)


def mean_in_place(m, x):
    m.h.mul_(0.9).add_(m.front(x), alpha=0.1)
    return m.out(m.h)


def means(m, x):
    m.h.copy_(m.decays * m.h + (1 - m.decays) * m.front(x))
    return m.out(m.h)


def difference(m, x):
    m.h.copy_(m.h - 0.2 * (m.h - m.front(x)))
    return m.out(m.h)


def of_two(m, x):
    m.h.copy_(m.h / 2 + m.front(x) - m.gate(x) * 3)
    return m.out(m.h)


def alternating(m, x):
    m.h = m.front(x) - 0.7 * m.h
    return m.out(m.h)


def gated(m, x):
    z = torch.sigmoid(m.gate(x))
    h = (1 - z) * m.h + z * torch.tanh(m.front(x))
    m.h.copy_(h)
    return m.out(h)


def toward(m, x):
    m.h.copy_(m.h + torch.sigmoid(m.gate(x)) * (m.front(x) - m.h))
    return m.out(m.h)


def fed_back(m, x):
    """A GRU without a reset gate, written in Python."""
    z = torch.sigmoid(m.gate(x + m.h))
    m.h.copy_(z * m.h + (1 - z) * torch.tanh(m.front(x) + m.gate(m.h)))
    return m.out(m.h)


def exponential(m, x):
    """One decay for all elements."""
    a = torch.exp(-torch.nn.functional.softplus(m.gate(x)[:, :1]))
    m.h.copy_(a * m.h + m.front(x))
    return m.out(m.h)


def spiking(m, x):
    spikes = (m.h > 0.3).float()
    m.h.copy_(0.9 * m.h + m.front(x) - 0.3 * spikes)
    return m.out(m.h)


def read_before(m, x):
    y = m.out(m.h)
    m.h.copy_(0.5 * m.h + m.front(x))
    return y


def in_other_shapes(m, x):
    h = 0.8 * m.h.view(SIZE) + m.front(x).view(SIZE)
    m.h.copy_(h.unsqueeze(0))
    return m.out(h)


def steps(m, x):
    h = m.h
    for k in range(3):
        h = m.decays * h + m.front(x + k)
    m.h.copy_(h)
    return m.out(h)


def from_zeros(m, x):
    h, found = torch.zeros(1, SIZE), []
    for k in range(3):
        h = h + 0.3 * (m.front(x + k) - h)
        found.append(h)
    return m.out(torch.cat(found))


def last_from_zeros(m, x):
    h = torch.zeros(1, SIZE)
    for k in range(3):
        h = h * m.decays + m.front(x + k)
    return m.out(h)


def selective(m, x):
    t = torch.nn.functional.softplus(m.gate(x)).unsqueeze(2)
    h = torch.exp(t * m.rates) * m.states + t * m.front(x).unsqueeze(2) * x[:, None, :3]
    m.states.copy_(h)
    return m.out(h.sum(2))


# With how many operators.
TAKEN = {
    mean: 1, mean_in_place: 1, means: 1, difference: 1, of_two: 1, alternating: 1, gated: 1, toward: 1, fed_back: 1,
    exponential: 1, spiking: 1, read_before: 1, in_other_shapes: 1, steps: 3, from_zeros: 3, last_from_zeros: 3,
    selective: 1,
}  # fmt: skip


def too_slow(m, x):
    m.h.copy_((MOST + 1e-4) * m.h + m.front(x))
    return m.out(m.h)


def counted(m, x):
    m.h.add_(m.front(x))
    return m.out(m.h)


def growing(m, x):
    """An exponential may be beyond 1."""
    m.h.copy_(torch.exp(m.gate(x)) * m.h + m.front(x))
    return m.out(m.h)


def squared(m, x):
    m.h.copy_(0.5 * m.h * m.h + m.front(x))
    return m.out(m.h)


def only_read(m, x):
    y = m.out(0.5 * m.h + m.front(x))
    m.h.copy_(m.front(x))
    return y


def limited(m, x):
    m.h.copy_(torch.tanh(0.5 * m.h + m.front(x)))
    return m.out(m.h)


def one_step_from_zeros(m, x):
    return m.out(0.5 * torch.zeros(1, SIZE) + m.front(x))


LEFT = [too_slow, counted, growing, squared, only_read, limited, one_step_from_zeros]


def named(form):
    return form.__name__


def inputs(count, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return [(torch.randn(1, SIZE, generator=generator),) for _ in range(count)]


def rewritten(form):
    """Returns a model, rewritten up to this rewrite, and how many operators for sums it has."""
    (x,) = inputs(1)[0]
    model = quantizable_module(torch.export.export(Keeps(form).eval(), (x,)))
    for rewrite in REWRITES:
        rewrite.run(model)
        if rewrite.run is separate_kept_sums:
            break
    calls = [str(node.target) for node in model.graph.nodes]
    return model, sum(call.endswith(("leaky_sum.default", "selective_state.default")) for call in calls)


@pytest.mark.parametrize("form", [*TAKEN, *LEFT], ids=named)
def test_results_of_several_inferences_stay(form):
    model, count = rewritten(form)
    assert count == TAKEN.get(form, 0)
    module = Keeps(form).eval()
    for (x,) in inputs(4):
        torch.testing.assert_close(model(x), module(x))


@pytest.mark.parametrize(
    "form", [mean, of_two, fed_back, exponential, spiking, steps, from_zeros, last_from_zeros], ids=named
)
def test_they_are_one_call_with_the_results_of_the_module(form):
    module, known = Keeps(form).eval(), inputs(200)
    compiled = compile_model(copy.deepcopy(module), known[0], "cortex-m55", known)
    assert not compiled.obstacle
    (part,) = compiled.parts
    assert sum(node.op == "leaky_sum" for node in part.graph.nodes) == TAKEN[form]
    states, found, wanted = reference.initial_states(part.graph), [], []
    with torch.no_grad():
        for (x,) in inputs(300, seed=2):
            found.append(reference.run(part.graph, [x.numpy()], states=states)[0])
            wanted.append(module(x).numpy().copy())
    noise = (np.array(found) - np.array(wanted)) ** 2
    power = (np.array(wanted) ** 2).mean()
    # A neuron may fire one step early or late; noise that adds up would be more in the last steps in any case.
    assert noise[-100:].mean() < power * 10 ** (-1.5 if form is spiking else -2.5)


def test_what_is_added_may_be_beyond_the_range_of_the_state():
    class Alternates(nn.Module):
        def __init__(self):
            super().__init__()
            self.register_buffer("h", torch.full((1, SIZE), 0.94))

        def forward(self, x):
            self.h.copy_(x - 0.7 * self.h)
            return self.h * 1.0

    module, known = Alternates().eval(), [(1.6 + 0.01 * x,) for (x,) in inputs(50)]
    compiled = compile_model(copy.deepcopy(module), known[0], "cortex-m4", known)
    (part,) = compiled.parts
    (node,) = (node for node in part.graph.nodes if node.op == "leaky_sum")
    assert node.inputs[0].scale == 2.0**-15  # 16 bits hold states up to 1
    states = reference.initial_states(part.graph)
    for (x,) in known:
        np.testing.assert_allclose(reference.run(part.graph, [x.numpy()], states=states)[0], module(x), atol=0.02)


def test_a_state_that_is_given_and_returned_is_held_too():
    class Given(nn.Module):
        def __init__(self):
            super().__init__()
            self.front, self.out = nn.Linear(SIZE, SIZE), nn.Linear(SIZE, SIZE)

        def forward(self, x, h):
            h = 0.95 * h + 0.05 * self.front(x)
            return self.out(h), h

    start = torch.zeros(1, SIZE)
    compiled = compile_model(Given().eval(), (inputs(1)[0][0], start), "cortex-m4", inputs(50), state={"h": 1})
    assert not compiled.obstacle
    assert "leaky_sum" in [node.op for node in compiled.parts[0].graph.nodes]
    assert compiled.report.persistent_bytes == 16


def test_a_loop_over_many_steps_is_one_call():
    def form(m, x):
        h, found = torch.zeros(1, SIZE), []
        for row in (m.front(x) * torch.linspace(-1, 1, 30)[:, None]).unbind():
            h = m.decays * h + row
            found.append(h)
        return m.out(torch.cat(found))

    compiled = compile_model(Keeps(form).eval(), inputs(1)[0], "cortex-m55", inputs(4), check=False)
    assert not compiled.obstacle
    assert sum(node.op == "leaky_sum" for node in compiled.parts[0].graph.nodes) == 30


class Calls(nn.Module):
    """The operators, with each function of a chain."""

    def forward(self, state, x):
        x = x[0, :, None]
        ops = torch.ops.cmsis_nn_delegate
        chain = "neg, softplus, mul -0.5, exp, add 0.25, tanh, relu, sigmoid"
        y = ops.leaky_sum(state, x * state, state, torch.tensor(0.5), chain)
        z = ops.leaky_sum(state, y, torch.tensor(0.25), torch.full((1, 3), 2.0), "")
        return y, z, ops.selective_state(state, x, x * 2, z[:1], -(state**2), "softplus")


def test_what_is_not_delegated_is_computed_by_operators_of_pytorch():
    given = (torch.randn(SIZE, 3), torch.randn(1, SIZE))
    program = torch.export.export(Calls(), given)
    expected = program.module()(*given)
    assert spell_out_layers(program, lambda node: False)
    assert "cmsis_nn_delegate" not in str(program.graph)
    torch.testing.assert_close(program.module()(*given), expected)


def test_a_chain_is_the_same_in_numpy_and_pytorch():
    x = torch.linspace(-5, 5, 50)
    chain = "neg, softplus, mul -0.5, exp, add 0.25, tanh, relu, sigmoid"
    zeros, ones = torch.zeros(50), torch.ones(())
    found = torch.ops.cmsis_nn_delegate.leaky_sum(torch.ones(50), zeros, x, ones, chain)
    np.testing.assert_allclose(found.numpy(), function_chain.compute(chain, x.numpy()), rtol=1e-5)
    assert function_chain.limits("softplus, neg, exp") == (0, 1)
    assert function_chain.limits("mul 0.0, add 2.0") == (2, 2)
