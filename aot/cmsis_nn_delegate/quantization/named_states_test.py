"""Inputs that become states: the compiled model computes what the module does when its caller hands them on."""

from __future__ import annotations

import copy
from collections import OrderedDict
from typing import NamedTuple

import numpy as np
import pytest
import torch
from torch import nn

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.compile import compile_for_targets, compile_model
from cmsis_nn_delegate.quantization.interface import Inputs
from cmsis_nn_delegate.quantization.named_states import NamedStates
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster

make_torch_faster()

SIZE = 12


def zeros(size=SIZE):
    return torch.zeros(1, size)


def sequence(steps, seed=0):
    generator = torch.Generator().manual_seed(seed)
    return [(torch.randn(1, 6, generator=generator),) for _ in range(steps)]


X = sequence(1)[0][0]


class Gru(nn.Module):
    """(x, h) -> (y, h2)"""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.cell, self.out = nn.GRUCell(6, SIZE), nn.Linear(SIZE, 3)

    def forward(self, x, h):
        h = self.cell(x, h)
        return self.out(h), h


class Lstm(nn.Module):
    """(states, x) -> {"y": y, "new": (h, c)}"""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.cell, self.out = nn.LSTMCell(6, SIZE), nn.Linear(SIZE, 3)

    def forward(self, states, x, *, scale=1.0):
        h, c = self.cell(x, states)
        return {"y": self.out(h) * scale, "new": (h, c)}


class Delays(nn.Module):
    """Hands the former input on to `older`, so that what is written to one state is the old value of another."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.out = nn.Linear(18, 3)

    def forward(self, x, newer, older):
        return self.out(torch.cat([x, newer, older], 1)), x, newer


class Exchange(Delays):
    """Each of two states waits for the other."""

    def forward(self, x, newer, older):
        return self.out(torch.cat([x, newer, older], 1)), older, newer


def float_outputs(module, inputs, held, step):
    results = []
    with torch.no_grad():
        for (x,) in inputs:
            y, held = step(module, x, held)
            results.append(y.numpy())
    return np.concatenate(results)


def compiled_outputs(graph, inputs):
    states = reference.initial_states(graph)
    return np.concatenate([reference.run(graph, [x.numpy()], states=states)[0] for (x,) in inputs])


def noise(found, wanted):
    """SQNR in dB."""
    return 10 * np.log10((wanted**2).sum() / ((found - wanted) ** 2).sum())


def test_a_state_of_a_gru():
    module = Gru().eval()
    before = copy.deepcopy(module.state_dict())
    start = torch.full((1, SIZE), 0.5)
    compiled = compile_model(module, (X, start), "cortex-m55", sequence(40), state={"h": 1})
    assert [value.name for value in compiled.graph.inputs] == ["x"]
    assert [value.shape for value in compiled.graph.outputs] == [(1, 3)]
    wanted = float_outputs(module, sequence(100, 1), start, lambda m, x, h: m(x, h))
    assert noise(compiled_outputs(compiled.graph, sequence(100, 1)), wanted) > 20
    assert before.keys() == module.state_dict().keys() and "forward" not in vars(module)
    assert torch.equal(start, torch.full((1, SIZE), 0.5))


def test_it_is_the_module_that_has_a_buffer():
    class Held(Gru):
        def __init__(self):
            super().__init__()
            self.register_buffer("h", zeros())

        def forward(self, x):
            y, h = super().forward(x, self.h)
            self.h.copy_(h)
            return y

    held = compile_model(Held(), (X,), "cortex-m55", sequence(20))
    named = compile_model(Gru(), {"x": X, "h": zeros()}, "cortex-m55", sequence(20), state={"h": "1"})
    assert held.payload == named.payload
    # Functions keep the names of the modules that they are in.
    assert [report.module for report in held.reports] == [report.module for report in named.reports]


def test_states_in_a_tuple_and_outputs_by_name():
    state = {"states_0": "new_0", "states_1": "new_1"}
    examples = {"x": X, "states": (zeros(), zeros())}
    (compiled,) = compile_for_targets(Lstm(), examples, ["cortex-m4"], sequence(40), state=state)
    assert [value.name for value in compiled.graph.inputs] == ["x"]

    def step(module, x, held):
        result = module(held, x)
        return result["y"], result["new"]

    wanted = float_outputs(Lstm().eval(), sequence(100, 1), (zeros(), zeros()), step)
    assert noise(compiled_outputs(compiled.graph, sequence(100, 1)), wanted) > 20


@pytest.mark.parametrize("kind", [Delays, Exchange])
def test_the_new_value_of_a_state_is_the_old_one_of_another(kind):
    """In PyTorch: which of such states a delegate call can hold is another matter."""
    module = kind().eval()
    held = (X + 1, X + 2)
    states = NamedStates(module, (X, *held), {"newer": 1, "older": 2})
    changed = copy.deepcopy(module)
    states.hold(changed)
    program = torch.export.export(changed, states.inputs.args).module(check_guards=False)

    def step(module, x, held):
        y, *held = module(x, *held)
        return y, held

    wanted = float_outputs(module, sequence(6), held, step)
    with torch.no_grad():
        assert np.array_equal(np.concatenate([program(x)[0].numpy() for (x,) in sequence(6)]), wanted)


class Pair(NamedTuple):
    a: torch.Tensor
    b: torch.Tensor


STRUCTURES = {
    "by position": ((X, zeros()), ["h"], ["x"], (X,)),
    "first": ((zeros(), X), ["x"], ["h"], (X,)),
    "in a list": ((X, [zeros(), X]), ["h_0"], ["x", "h_0"], (X, [X])),
    "in a dict": ((X, {"a": zeros(), "b": X}), ["h_a"], ["x", "h_b"], (X, {"b": X})),
    "in an ordered dict": ((X, OrderedDict(a=zeros(), b=X)), ["h_b"], ["x", "h_a"], (X, OrderedDict(a=zeros()))),
    "deep": ((X, {"a": [zeros(), (zeros(),)], "b": X}), ["h_a_0", "h_a_1_0"], ["x", "h_b"], (X, {"b": X})),
    "a named tuple": ((X, Pair(zeros(), zeros())), ["h_a", "h_b"], ["x"], (X,)),
    "beside a value": ((X, zeros(), True), ["h"], ["x"], (X, True)),
}


class Named(nn.Module):
    def forward(self, x, h, flag=False):
        raise AssertionError("not called")


@pytest.mark.parametrize("case", STRUCTURES)
def test_structures_of_samples(case):
    examples, names, remaining, sample = STRUCTURES[case]
    inputs = NamedStates(Named(), examples, dict.fromkeys(names, 1)).inputs
    assert list(inputs.names) == remaining
    found = inputs.flatten(sample, "the sample")
    assert len(found) == len(remaining)
    with pytest.raises(UserError):
        inputs.flatten(examples, "the sample")  # which has the states


def test_arguments_that_are_given_by_name():
    class Keyword(Lstm):
        def forward(self, x, *, states):
            return super().forward(states, x)

    state = {"states_0": "new_0", "states_1": "new_1"}
    inputs = NamedStates(Keyword(), {"x": X, "states": (zeros(), zeros())}, state).inputs
    assert inputs.names == ("x",) and len(inputs.flatten({"x": X}, "the sample")) == 1


def refusal(state, module=None, examples=None):
    with pytest.raises(UserError) as info:
        compile_model(module or Gru(), examples or (X, zeros()), "cortex-m4", sequence(2), state=state)
    return str(info.value)


class Alone(nn.Module):
    def forward(self, x, h):
        return h + x[:, :1]


class Longer(Gru):
    def forward(self, x, h):
        y, h = super().forward(x, h)
        return y, h.long(), torch.cat([h, h])


def test_refused_names():
    assert refusal({"g": 1}) == "unknown input in `state`: 'g'; choose one of x, h"
    found = "1 (float32[1, 12])"
    assert refusal({"h": "h2"}) == (
        f"state h: the model has no output 'h2'; give one of those that it has: 0 (float32[1, 3]), {found}"
    )
    assert "no output '-1'" in refusal({"h": -1})
    assert refusal({"x": 1, "h": 1}) == "all inputs of the model are states, x, h: one has to remain an input"
    assert "of those that it has: y (float32[1, 3]), new_0 (float32[1, 12])" in refusal(
        {"states_0": "h"}, Lstm(), ((zeros(), zeros()), X)
    )
    assert "output new_0 is given as the new value of both states_0 and states_1: each state needs one of its own" in (
        refusal({"states_0": 1, "states_1": "new_0"}, Lstm(), ((zeros(), zeros()), X))
    )
    assert refusal({"h": 1.5}).startswith("state is of type dict; it must be ")


def test_refused_values():
    assert "state h is float32[1, 12], and output 0, its new value, float32[1, 3]: both must be" in refusal({"h": 0})
    assert "output 1, its new value, int64[1, 12]: both must be of one shape and type" in refusal({"h": 1}, Longer())
    assert "output 2, its new value, float32[2, 12]" in refusal({"h": 2}, Longer())
    assert "returns new values of its states alone" in refusal({"h": 0}, Alone())
    both = (X, Pair(zeros(), zeros()))
    assert "of a Pair in the inputs, either all tensors or none can be states" in refusal({"h_a": 1}, Named(), both)


def test_an_exported_program_is_refused():
    program = torch.export.export(Gru().eval(), (X, zeros()))
    assert "give the torch.nn.Module that it was exported from, to which h can be added" in refusal({"h": 1}, program)


def test_samples_have_no_states():
    with pytest.raises(UserError, match="sample 0 of the calibration data has 2 items, but the model takes 1 input"):
        compile_model(Gru(), (X, zeros()), "cortex-m4", [(X, zeros())], state={"h": 1})
    assert Inputs.of(Gru(), (X, zeros())).names == ("x", "h")  # without `state`
