"""Which states a call holds, where they are read and written in unusual ways, and what it computes then."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch
from torch import nn

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster

make_torch_faster()

INPUTS, UNITS = 10, 20


class Cell(nn.Module):
    """Layers and states, of which each form uses some."""

    def __init__(self, form, initial=0.0):
        super().__init__()
        self.form = form
        self.cell, self.layer = nn.GRUCell(INPUTS, UNITS), nn.GRU(INPUTS, UNITS)
        self.front, self.out, self.back = nn.Linear(INPUTS, INPUTS), nn.Linear(UNITS, 4), nn.Linear(UNITS, INPUTS)
        self.register_buffer("h", torch.full((1, UNITS), initial))
        self.register_buffer("past", torch.zeros(1, INPUTS))

    def forward(self, *inputs):
        return self.form(self, *inputs)


def delayed(m, x):
    """The input itself becomes the state."""
    y = m.out(torch.cat([x, m.past], 1))
    m.past.copy_(x)
    return y


def read_by_several_layers(m, x):
    y = m.back(torch.cat([torch.tanh(m.out(m.h))] * 5, 1))
    m.h.copy_(m.cell(x, m.h))
    return y


def fed_back(m, x):
    h = m.cell(x + m.back(m.h), m.h)
    m.h.copy_(h)
    return m.out(h)


def last_step(m, x):
    y, _ = m.layer(x[None], m.h[None])
    m.h.copy_(y[-1])
    return m.out(y[0])


# Whether the bytes are those of 16 bits for UNITS, or 8 for INPUTS, rounded up.
FORMS = {delayed: 16, read_by_several_layers: 48, fed_back: 48, last_step: 48}


def samples(count, seed=1):
    random = torch.Generator().manual_seed(seed)
    return [(torch.randn(1, INPUTS, generator=random),) for _ in range(count)]


def noise(compiled, step):
    """The noise of 60 inferences relative to what `step` computes, in power."""
    (part,) = compiled.parts
    states = reference.initial_states(part.graph)
    found, wanted = [], []
    with torch.no_grad():
        for (x,) in samples(60, seed=2):
            found.append(reference.run(part.graph, [x.numpy()], states=states)[0])
            wanted.append(step(x).numpy().copy())
    wanted = np.array(wanted)
    return ((np.array(found) - wanted) ** 2).sum() / (wanted**2).sum()


@pytest.mark.parametrize("form", FORMS, ids=lambda form: form.__name__)
def test_one_call_holds_the_state(form):
    torch.manual_seed(0)
    module, known = Cell(form).eval(), samples(100)
    compiled = compile_model(copy.deepcopy(module), known[0], "cortex-m55", known)
    assert not compiled.obstacle
    assert compiled.report.persistent_bytes == FORMS[form]
    assert noise(compiled, module) < 10**-2.5


def test_an_old_state_may_be_returned_too():
    torch.manual_seed(0)
    known, state = samples(100), [torch.zeros(1, UNITS)]
    module = Cell(lambda m, x, h: (h, m.cell(x, h))).eval()

    def step(x):
        old, state[0] = module(x, state[0])
        return old

    start = (known[0][0], state[0])
    compiled = compile_model(copy.deepcopy(module), start, "cortex-m55", known, state={"inputs_1": 1})
    assert not compiled.obstacle
    assert noise(compiled, step) < 10**-2.5


def test_a_state_stays_within_one_of_several_calls():
    """What no kernel computes stands before the cell."""

    def form(m, x):
        y = m.front(x)
        h = m.cell(torch.atan2(y, y), m.h)
        m.h.copy_(h)
        return m.out(h)

    torch.manual_seed(0)
    known = samples(20)
    compiled = compile_model(Cell(form).eval(), known[0], "cortex-m55", known)
    assert [len(part.graph.states()) for part in compiled.parts] == [0, 1]


@pytest.mark.parametrize(
    "form, initial",
    [(lambda m, x: m.cell(x, 3.0 * torch.cat([m.front(x)] * 2, 1)), 0.0), (fed_back, 3.0)],
    ids=["computed", "buffer"],
)
def test_states_of_a_gru_beyond_one_are_not_limited_to_it(form, initial):
    torch.manual_seed(0)
    known = samples(20)
    compiled = compile_model(Cell(form, initial).eval(), known[0], "cortex-m55", known)
    assert not any(node.op == "gru" for part in compiled.parts for node in part.graph.nodes)
