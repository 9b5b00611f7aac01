"""States that a delegate call holds: one call, nothing of the state at its border, and in each of many inferences the
bytes of the reference, in ExecuTorch's runtime on the host and on simulated cores without it."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest
import torch
from executorch.runtime import Runtime
from torch import nn

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.compile import compile_for_targets
from cmsis_nn_delegate.compiled import Compiled
from cmsis_nn_delegate.runner import simulate
from cmsis_nn_delegate.runner.host import HostProgram
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from tests.end_to_end.vectors import firmware

make_torch_faster()

LIBRARY = "runtime/libcmsis_nn_delegate.so"
CORES = ("cortex-m4", "cortex-m55")
INPUTS, UNITS = 10, 24
CALIBRATION, STEPS, SIMULATED_STEPS, STOPS = 300, 600, 50, 17


class Remembers(nn.Module):
    """A model with a state, and a linear layer behind it."""

    def __init__(self, units: int = UNITS, **states: torch.Tensor) -> None:
        super().__init__()
        self.out = nn.Linear(units, 4)
        for name, data in states.items():
            self.register_buffer(name, data)


class GruCell(Remembers):
    def __init__(self, initial: float = 0.0) -> None:
        super().__init__(h=initial * torch.linspace(-1, 1, UNITS)[None])
        self.cell = nn.GRUCell(INPUTS, UNITS)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.h.copy_(self.cell(x, self.h))
        return self.out(self.h)


class LstmCell(Remembers):
    def __init__(self) -> None:
        super().__init__(h=torch.zeros(1, UNITS), c=torch.zeros(1, UNITS))
        self.cell = nn.LSTMCell(INPUTS, UNITS)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        h, c = self.cell(x, (self.h, self.c))
        self.h.copy_(h)
        self.c.copy_(c)
        return self.out(h)


class Rnn(Remembers):
    def __init__(self) -> None:
        super().__init__(h=torch.zeros(1, 1, UNITS))
        self.rnn = nn.RNN(INPUTS, UNITS)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y, h = self.rnn(x[None], self.h)
        self.h[:] = h
        return self.out(y[0])


class GruOfTwoLayers(Remembers):
    def __init__(self) -> None:
        super().__init__(h=torch.zeros(2, 1, UNITS))
        self.gru = nn.GRU(INPUTS, UNITS, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y, h = self.gru(x[None], self.h)
        self.h.copy_(h)
        return self.out(y[0])


class LstmOfTwoLayers(Remembers):
    def __init__(self) -> None:
        super().__init__(h=torch.zeros(2, 1, UNITS), c=torch.zeros(2, 1, UNITS))
        self.lstm = nn.LSTM(INPUTS, UNITS, 2, batch_first=True)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y, (h, c) = self.lstm(x[:, None], (self.h, self.c))
        self.h.copy_(h)
        self.c.copy_(c)
        return self.out(y[:, 0])


class LstmWithProjection(Remembers):
    """Its hidden state has other sizes than its cells."""

    def __init__(self) -> None:
        super().__init__(12, h=torch.zeros(1, 1, 12), c=torch.zeros(1, 1, UNITS))
        self.lstm = nn.LSTM(INPUTS, UNITS, proj_size=12)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y, (h, c) = self.lstm(x[None], (self.h, self.c))
        self.h.copy_(h)
        self.c.copy_(c)
        return self.out(y[0])


class ReadBefore(Remembers):
    """A state of 16 bits that a layer of 8 bits reads before it changes."""

    def __init__(self) -> None:
        super().__init__(h=torch.zeros(1, UNITS))
        self.cell = nn.GRUCell(INPUTS, UNITS)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.out(self.h)
        self.h.copy_(self.cell(x, self.h))
        return y


class PastOfConvolution(Remembers):
    """The past starts as what no input is, so that 0 would be wrong."""

    def __init__(self) -> None:
        super().__init__(past=torch.full((1, INPUTS, 2), 0.7))
        self.conv = nn.Conv1d(INPUTS, UNITS, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        window = torch.cat([self.past, x[..., None]], -1)
        self.past.copy_(window[..., 1:])
        return self.out(torch.relu(self.conv(window))[..., 0])


class Attention(Remembers):
    """Attention to the last 12 inputs."""

    def __init__(self) -> None:
        super().__init__(16, keys=torch.zeros(1, 12, 16), values=torch.zeros(1, 12, 16))
        self.query, self.key, self.value = (nn.Linear(INPUTS, 16) for _ in range(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        keys = torch.cat([self.keys[:, 1:], self.key(x)[:, None]], 1)
        values = torch.cat([self.values[:, 1:], self.value(x)[:, None]], 1)
        self.keys.copy_(keys)
        self.values.copy_(values)
        scores = torch.softmax(self.query(x)[:, None] @ keys.transpose(1, 2) / 4, -1)
        return self.out((scores @ values)[:, 0])


class RunningMeans(Remembers):
    """Means over different times, of which the longest is 500 steps."""

    def __init__(self) -> None:
        super().__init__(means=torch.linspace(-0.5, 0.5, UNITS)[None])
        self.front, self.fresh = nn.Linear(INPUTS, UNITS), nn.Parameter(torch.logspace(-2.7, -0.3, UNITS))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.means.lerp_(self.front(x), self.fresh)
        return self.out(self.means)


class GatedSum(Remembers):
    """A recurrent unit that decides by its input alone what it keeps [Feng et al. 2024, "Were RNNs all we needed?"]."""

    def __init__(self) -> None:
        super().__init__(h=torch.zeros(1, UNITS))
        self.front, self.gate = nn.Linear(INPUTS, UNITS), nn.Linear(INPUTS, UNITS)
        self.gate.bias.data -= 2

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        z = torch.sigmoid(self.gate(x))
        h = (1 - z) * self.h + z * torch.tanh(self.front(x))
        self.h.copy_(h)
        return self.out(h)


class SelectiveState(Remembers):
    """A selective state space layer of few channels."""

    def __init__(self) -> None:
        super().__init__(hidden=torch.zeros(1, UNITS, 4))
        self.front, self.step = nn.Linear(INPUTS, UNITS), nn.Linear(UNITS, UNITS)
        self.both = nn.Linear(UNITS, 8)
        self.step.bias.data.copy_(torch.linspace(-6, -2, UNITS))
        self.rates = nn.Parameter(-torch.linspace(0.5, 4, 4 * UNITS).reshape(UNITS, 4))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.front(x)
        written, read = self.both(y)[:, None].chunk(2, 2)
        step = nn.functional.softplus(self.step(y))[..., None]
        hidden = torch.exp(step * self.rates) * self.hidden + step * y[..., None] * written
        self.hidden.copy_(hidden)
        return self.out(y + (hidden * read).sum(2))


# By name: the model, and the bytes of its states, each rounded up to 16.
MODELS: dict[str, tuple[Callable[[], nn.Module], int]] = {
    "GRUCell": (GruCell, 48),
    "GRUCell with an initial state": (lambda: GruCell(0.8), 48),
    "LSTMCell": (LstmCell, 32 + 48),
    "RNN": (Rnn, 32),
    "GRU of two layers": (GruOfTwoLayers, 2 * 48),
    "LSTM of two layers": (LstmOfTwoLayers, 2 * (32 + 48)),
    "LSTM with a projection": (LstmWithProjection, 16 + 48),
    "GRUCell read before": (ReadBefore, 48),
    "past of a convolution": (PastOfConvolution, 32),
    "keys and values": (Attention, 2 * 192),
    "running means": (RunningMeans, 48),
    "gated sum": (GatedSum, 48),
    "selective state": (SelectiveState, 192),
}


def inputs(count: int, seed: int) -> list[torch.Tensor]:
    """Slow waves with noise."""
    random = torch.Generator().manual_seed(seed)
    phases = torch.rand(INPUTS, generator=random) * 6
    time = torch.arange(count)[:, None] * torch.linspace(0.05, 0.4, INPUTS)
    signal = torch.sin(time + phases) + 0.3 * torch.randn(count, INPUTS, generator=random)
    return list(signal[:, None])


@dataclass(frozen=True)
class Built:
    module: nn.Module
    compiled: dict[str, Compiled]  # by core
    state_bytes: int
    simulated: str  # core


@pytest.fixture(scope="module", params=MODELS)
def built(request):
    """A model, compiled once: its tests are in one shard."""
    torch.manual_seed(0)
    make, state_bytes = MODELS[request.param]
    # In turn: kernels are compared on every core by tests/conformance, and where a state lies is the same on all.
    simulated = CORES[list(MODELS).index(request.param) % len(CORES)]
    module = make().eval()
    calibration = [(x,) for x in inputs(CALIBRATION, seed=1)]
    compiled = compile_for_targets(copy.deepcopy(module), calibration[0], CORES, calibration)
    return Built(module, dict(zip(CORES, compiled)), state_bytes, simulated)


def test_a_call_holds_the_state(built):
    compiled = built.compiled
    for core in CORES:
        assert len(compiled[core].parts) == 1 and not compiled[core].obstacle
        graph = compiled[core].parts[0].graph
        assert [value.shape for value in graph.inputs] == [(1, INPUTS)]
        assert [value.shape for value in graph.outputs] == [(1, 4)]
        assert compiled[core].report.persistent_bytes == built.state_bytes


def test_each_of_many_inferences_is_that_of_the_reference(built):
    module, compiled = built.module, built.compiled
    part = compiled["cortex-m55"].parts[0]
    states = reference.initial_states(part.graph)
    host, other = (HostProgram(compiled["cortex-m55"].pte, LIBRARY) for _ in range(2))
    wanted, found = [], []
    with torch.no_grad():
        for x in inputs(STEPS, seed=2):
            wanted.append(module(x).numpy().copy())
            found.append(reference.run(part.graph, [x.numpy()], states=states)[0])
            assert np.array_equal(host.run([x.numpy()])[0], found[-1])
            if len(found) == SIMULATED_STEPS:  # another one goes on from here, and this one stays as it is
                other.set_state(host.state())
            elif SIMULATED_STEPS < len(found) < 2 * SIMULATED_STEPS:
                assert np.array_equal(other.run([x.numpy()])[0], found[-1])
    assert host.state() == reference.memory_of(part.graph, states) != other.state()
    wanted, found = np.array(wanted), np.array(found)
    for steps in (slice(0, 20), slice(80, 120), slice(STEPS - 40, STEPS)):
        noise = ((found[steps] - wanted[steps]) ** 2).sum() / (wanted[steps] ** 2).sum()
        assert -10 * np.log10(noise) > 28  # dB


def test_a_state_is_that_of_its_program(built, monkeypatch):
    """While it is loaded, another one is destroyed, and a thread loads a third one."""
    pte, part = built.compiled["cortex-m55"].pte, built.compiled["cortex-m55"].parts[0]
    others = [HostProgram(pte, LIBRARY)]
    load = Runtime.get().load_program
    thread = threading.Thread(target=lambda: others.append(HostProgram(pte, LIBRARY)))

    def load_amid_others(*arguments, **options):
        monkeypatch.undo()
        others.clear()
        thread.start()
        thread.join(0.1)  # far longer than loading takes, unless that has to wait for this one
        return load(*arguments, **options)

    monkeypatch.setattr(Runtime.get(), "load_program", load_amid_others)
    host = HostProgram(pte, LIBRARY)
    thread.join()
    states = reference.initial_states(part.graph)
    initial = reference.memory_of(part.graph, states)
    for x in inputs(3, seed=4):
        host.run([x.numpy()])
        reference.run(part.graph, [x.numpy()], states=states)
    assert host.state() == reference.memory_of(part.graph, states) != initial
    assert [other.state() for other in others] == [initial]


def test_simulated_cores_keep_the_state(built):
    samples = [[x.numpy()] for x in inputs(SIMULATED_STEPS, seed=3)]
    part = built.compiled[built.simulated].parts[0]
    states = reference.initial_states(part.graph)
    expected = [reference.run(part.graph, sample, states=states)[0] for sample in samples]
    # It stops, and goes on from the state that it has left.
    run = simulate.run(part.payload, samples[:STOPS], firmware(built.simulated))
    stopped = reference.states_in(part.graph, run.state)
    assert np.array_equal(reference.run(part.graph, samples[STOPS], states=stopped)[0], expected[STOPS])
    rest = simulate.run(part.payload, samples[STOPS:], firmware(built.simulated), state=run.state)
    assert np.array_equal(np.array([outputs[0] for outputs in run.outputs + rest.outputs]), np.array(expected))
    assert rest.state == reference.memory_of(part.graph, states)
