"""Models that keep a state compute, in each inference, what the float module does from the same state: in PyTorch with
integers, in the reference and in ExecuTorch's runtime on the host."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from executorch.exir.lowered_backend_module import executorch_call_delegate
from torch import nn
from torch.nn import functional as F
from torch.utils import _pytree as pytree

from cmsis_nn_delegate import pipeline, reference
from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.compiled import Compiled
from cmsis_nn_delegate.partition.states import keep_state
from cmsis_nn_delegate.runner.host import HostProgram
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster

make_torch_faster()

LIBRARY = "runtime/libcmsis_nn_delegate.so"
X = torch.linspace(-1, 1, 72).reshape(1, 2, 6, 6)

# A layer, and the dimensions of what it reads: 4 channels with 7 numbers along the last dimension.
LAYERS: dict[str, tuple[Callable[[], nn.Module], int]] = {
    "conv1d": (lambda: nn.Conv1d(4, 6, 3), 3),
    "depthwise": (lambda: nn.Conv1d(4, 4, 3, groups=4), 3),
    "transposed": (lambda: nn.ConvTranspose1d(4, 4, 3, stride=2), 3),
    "norm": (lambda: nn.Sequential(nn.Conv1d(4, 4, 1), nn.BatchNorm1d(4), nn.ReLU()), 3),
    "pool1d": (lambda: nn.Sequential(nn.MaxPool1d(3, 1), nn.Conv1d(4, 4, 1)), 3),
    "linear": (lambda: nn.Linear(7, 6), 3),
    "conv2d": (lambda: nn.Conv2d(4, 6, 3), 4),
}


class Stateful(nn.Module):
    """A layer, one of `FORMS`, and buffers that it may use: `new` and `old` are 2 long, `all` is 7 long."""

    def __init__(self, layer: str, form: str) -> None:
        super().__init__()
        torch.manual_seed(0)
        make, self.rank = LAYERS[layer]
        self.layer = make()
        self.form = FORMS[form]
        self.register_buffer("new", torch.zeros(self.shape(2)))
        self.register_buffer("old", torch.full(self.shape(2), 0.5))
        self.register_buffer("all", torch.zeros(self.shape(7)))
        self.register_buffer("weights", torch.randn(4, 6, 1, 1))
        self.norm = nn.BatchNorm2d(4)
        self.register_buffer("mean", torch.zeros(4, *[1] * (self.rank - 2)))

    def shape(self, last: int) -> tuple[int, ...]:
        return (1, 4, *[5] * (self.rank - 3), last)

    def forward(self, x: torch.Tensor) -> Any:
        return self.form(self, x)


def _delayed(m, x):
    y = torch.cat([m.new, x], -1)
    m.new.copy_(x[..., -2:])
    return torch.relu(m.layer(y))


def _on_the_right(m, x):
    y = m.layer(torch.cat([x, m.new], -1))
    m.new[:] = x[..., :2]
    return y


def _assigned(m, x):
    y = torch.cat([m.new, x], -1)
    m.new = y[..., -2:] * 0.5
    return m.layer(y)


def _in_part(m, x):
    y = torch.cat([m.new, x], -1)
    m.new[:, :2] = x[:, :2, ..., -2:]
    return m.layer(y)


def _through_a_view(m, x):
    y = torch.cat([m.new, x], -1)
    m.new.view(-1)[:] = x[..., :2].reshape(-1)
    return m.layer(y)


def _before_and_after(m, x):
    y = torch.cat([m.new, x], -1)
    m.new.copy_(x[..., -2:])
    return m.layer(y) + m.layer(torch.cat([x, m.new], -1))


def _ring(m, x):
    m.all.copy_(torch.cat([m.all[..., 5:], x], -1))
    return m.layer(m.all)


def _average(m, x):
    m.all.lerp_(F.pad(x, (1, 1)), 0.3)
    return m.layer(m.all)


def _two(m, x):
    y = torch.cat([m.new, x[..., :3], m.old], -1)
    m.new.copy_(x[..., -2:])
    m.old.copy_(x[..., :2] * 2)
    return m.layer(y)


def _swapped(m, x):
    y = torch.cat([m.new, x[..., :3], m.old], -1)
    held = m.new.clone()
    m.new.copy_(m.old)
    m.old.copy_(held + x[..., :2])
    return m.layer(y)


def _shifted(m, x):
    y = torch.cat([m.old, m.new, x[..., :3]], -1)
    m.old.copy_(m.new)
    m.new.copy_(x[..., -2:])
    return m.layer(y), m.old


def _weights(m, x):
    y = m.norm(F.conv2d(m.layer(F.pad(x, (1, 1))), m.weights))
    m.weights.mul_(0.7)
    m.norm.running_mean.copy_(x[0, :, 0, 0])
    return y


def _per_channel(m, x):
    y = m.layer(F.pad(x, (0, 2)) - m.mean)
    m.mean.mul_(0.5).add_(x.mean(list(range(2, m.rank)), keepdim=True)[0])
    return y


def _counted(m, x):
    """Nothing but the state decides what the state becomes."""
    y = m.layer(F.pad(x, (0, 2))) * m.mean.sum()
    m.mean.add_(1.0)
    return y


def _held_part(m, x):
    """`new` is written before `old`, which gets what a part of `new` was."""
    m.old.copy_(m.new[..., :1].expand_as(m.old))
    m.new.copy_(x[..., -2:])
    return m.layer(F.pad(x, (0, 2))), m.old


def _held_view(m, x):
    held = m.old.clone()
    m.old.copy_(m.new.view(-1).view(m.old.shape))
    m.new.add_(x[..., -2:])
    return m.layer(F.pad(x, (0, 2))), held


def _held_whole(m, x):
    y = torch.cat([m.old, m.new, x[..., :3]], -1)
    m.old.copy_(m.new[..., :2])
    m.new.copy_(m.all[..., 3:5])
    m.all.copy_(F.pad(x, (1, 1)))
    return m.layer(y), m.old.reshape(-1)


def _both_alike(m, x):
    y = torch.cat([m.old, m.new, x[..., :3]], -1)
    half = x[..., :2] * 0.5
    m.old.copy_(half)
    m.new.copy_(half)
    return m.layer(y)


def _read_as_a_view(m, x):
    y = torch.cat([m.new, x], -1)
    m.new.copy_(x[..., -2:])
    return m.layer(y), m.new.reshape(-1)


FORMS = {
    name[1:]: form
    for name, form in list(globals().items())
    if name.startswith("_") and getattr(form, "__code__", None) and form.__code__.co_varnames[:2] == ("m", "x")
}
VIEWS = ("both_alike", "held_part", "held_view", "held_whole", "read_as_a_view")
CASES = [
    *((form, layer) for form in sorted(FORMS) for layer in ("conv1d", "conv2d") if form not in ("weights", *VIEWS)),
    *((form, "conv1d") for form in VIEWS),
    ("weights", "conv2d"),
    *(("delayed", layer) for layer in LAYERS if layer not in ("conv1d", "conv2d")),
    ("ring", "linear"),
    ("average", "pool1d"),
]


class _Reference(torch.fx.Interpreter):
    """Runs an edge program, and its delegate calls by the reference."""

    def __init__(self, program: torch.export.ExportedProgram, compiled: Compiled) -> None:
        super().__init__(program.graph_module)
        self._graphs = {
            node.name: part.graph
            for node, part in zip(
                (node for node in program.graph.nodes if node.target is executorch_call_delegate), compiled.parts
            )
        }
        self._held = {name: reference.initial_states(graph) for name, graph in self._graphs.items()}
        self._signature = program.graph_signature
        self._state = {name: x.clone() for name, x in {**program.state_dict, **program.constants}.items()}
        self._call = ""

    def run_node(self, n: torch.fx.Node) -> Any:
        self._call = n.name
        return super().run_node(n)

    def call_function(self, target: Any, args: Any, kwargs: Any) -> Any:
        if target is not executorch_call_delegate:
            return super().call_function(target, args, kwargs)
        graph, states = self._graphs[self._call], self._held[self._call]
        results = reference.run(graph, [x.numpy() for x in args[1:]], states=states)
        return [torch.from_numpy(x) for x in results]

    def step(self, x: torch.Tensor) -> list[np.ndarray]:
        signature = self._signature
        held = {**signature.inputs_to_buffers, **signature.inputs_to_parameters}
        held.update(signature.inputs_to_lifted_tensor_constants)
        placeholders = self.graph.find_nodes(op="placeholder")
        results = self.run(*(self._state[held[node.name]] if node.name in held else x for node in placeholders))
        outputs = []
        for spec, value in zip(signature.output_specs, [value.clone() for value in results]):
            if spec.kind is torch.export.graph_signature.OutputKind.BUFFER_MUTATION:
                self._state[spec.target] = value
            else:
                outputs.append(value.numpy())
        return outputs


@pytest.mark.parametrize("form, layer", CASES)
def test_every_inference_is_that_of_the_module_from_the_same_state(form, layer, monkeypatch):
    module = Stateful(layer, form).eval()
    generator = torch.Generator().manual_seed(3)
    samples = [torch.randn(module.shape(5), generator=generator) for _ in range(6)]
    programs = []
    monkeypatch.setattr(pipeline, "keep_state", lambda edge: (keep_state(edge), programs.append(copy.deepcopy(edge))))
    compiled = compile_model(copy.deepcopy(module), (samples[0],), "cortex-m55", [(x,) for x in samples])
    assert compiled.parts
    quantized = compiled.program.module(check_guards=False)
    host, integers = HostProgram(compiled.pte, LIBRARY), _Reference(programs[0], compiled)
    outputs = []
    with torch.no_grad():
        for x in samples:
            wanted = [y.numpy().copy() for y in pytree.tree_leaves(module(x.clone()))]
            found = [y.numpy().copy() for y in pytree.tree_leaves(quantized(x.clone()))]
            outputs.append((wanted, found, host.run([x.numpy()]), integers.step(x)))
    for index in range(len(outputs[0][0])):
        wanted, found, device, exact = (np.stack([step[i][index] for step in outputs]) for i in range(4))
        # A convolution with weights that change stays in float, and libraries add its products in different orders.
        assert np.array_equal(device, exact) or form == "weights" and np.allclose(device, exact, atol=1e-6)
        largest = np.abs(wanted).max()
        assert np.abs(found - wanted).max() < 0.06 * largest
        assert np.abs(device - found).max() < 0.02 * largest  # a step of the output, and of the one before


@pytest.mark.parametrize("form", ["delayed", "on_the_right", "ring"])
def test_a_state_that_gets_a_part_of_an_input_is_one_call_with_what_reads_it(form):
    module = Stateful("conv1d", form).eval()
    samples = [torch.randn(module.shape(5)) for _ in range(3)]
    compiled = compile_model(module, (samples[0],), "cortex-m55", [(x,) for x in samples], check=False)
    assert not compiled.obstacle
    assert compiled.report.persistent_bytes >= module.new.numel()


class Accumulator(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.conv = nn.Conv2d(2, 2, 1)
        self.register_buffer("total", torch.full((1, 2, 6, 6), 5.0))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total.add_(self.conv(x))
        return self.total * 2


def test_the_first_inference_starts_from_the_initial_state():
    module = Accumulator()
    program = HostProgram(compile_model(module, (X,), "cortex-m55", [(X,), (X,), (-X,)]).pte, LIBRARY)
    for count, sign in enumerate((1, 1, -1), start=1):
        (got,) = program.run([sign * X.numpy()])
        # The sum keeps the error of each inference, one step of the convolution, twice.
        assert np.abs(got - module(sign * X).detach().numpy()).max() < 0.05 * count


def test_inputs_that_are_not_finite_are_refused():
    program = HostProgram(compile_model(Accumulator(), (X,), "cortex-m55", [(X,)]).pte, LIBRARY)
    for value in (np.nan, np.inf, -np.inf):
        image = X.numpy().copy()
        image[0, 1, 2, 3] = value
        with pytest.raises(UserError, match=r"input 0 of the program holds .* at \[0, 1, 2, 3\]"):
            program.run([image])
