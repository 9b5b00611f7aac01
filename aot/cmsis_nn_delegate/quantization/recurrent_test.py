"""Recurrent layers computed step by step give the results of PyTorch's, and are delegated whole."""

import pytest
import torch
from torch import nn

from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.quantization.recurrent import MAX_STEPS, unroll_recurrent_layers
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from cmsis_nn_delegate.testing.lowering import Branch, Function, branches_apart

make_torch_faster()

LAYERS = {
    "lstm": lambda: nn.LSTM(4, 3),
    "lstm of two layers": lambda: nn.LSTM(4, 3, 2, bias=False, dropout=0.5),
    "lstm in both directions": lambda: nn.LSTM(4, 3, batch_first=True, bidirectional=True),
    "lstm with a projection": lambda: nn.LSTM(4, 3, proj_size=2),
    "gru": lambda: nn.GRU(4, 3),
    "gru in both directions": lambda: nn.GRU(4, 3, 2, bidirectional=True, batch_first=True),
    "rnn": lambda: nn.RNN(4, 3),
    "rnn of relu": lambda: nn.RNN(4, 3, nonlinearity="relu"),
}


def unrolled(module, *inputs):
    graph = torch.export.export(module.eval(), inputs).module(check_guards=False)
    unroll_recurrent_layers(graph)
    torch.testing.assert_close(graph(*inputs), module(*inputs))
    return [str(node.target) for node in graph.graph.nodes if node.op == "call_function"]


def is_whole(targets):
    return any(name in target for target in targets for name in ("lstm", "gru", "rnn"))


@pytest.mark.parametrize("name", LAYERS)
def test_steps_compute_the_layer(name):
    torch.manual_seed(0)
    assert not is_whole(unrolled(LAYERS[name](), torch.randn(3, 2, 4)))


def test_given_states():
    torch.manual_seed(0)
    inputs = torch.randn(3, 2, 4), torch.randn(1, 2, 3), torch.randn(1, 2, 3)
    lstm = nn.LSTM(4, 3)
    assert not is_whole(unrolled(Function(lambda x, h, c: lstm(x, (h, c)), lstm=lstm), *inputs))


def test_long_sequences_stay_whole():
    assert is_whole(unrolled(nn.RNN(2, 2), torch.randn(MAX_STEPS + 1, 1, 2)))


class First(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)[0]


DELEGATED = ("lstm of two layers", "lstm in both directions", "gru", "rnn")


@pytest.fixture(scope="module")
def apart():
    torch.manual_seed(0)
    layers = {name: LAYERS[name]() for name in DELEGATED}
    return branches_apart(
        {
            name: Branch(Function(lambda x, m=layer: m(x)[0], m=layer), (torch.randn(3, 2, 4),))
            for name, layer in layers.items()
        }
    )


@pytest.mark.parametrize("name", DELEGATED)
def test_delegated(apart, name):
    """Each operator is at most 1 step from the quantized graph's. What a step of its input makes of its output adds to
    that, and three such steps follow each other."""
    print(apart[name].distance, len(apart[name].ops))
    assert apart[name].distance <= 3


@pytest.mark.parametrize(
    "layer, steps", [(nn.LSTM, 14), (nn.GRU, 14), (nn.RNN, MAX_STEPS)], ids=["lstm", "gru", "the longest rnn"]
)
def test_more_steps_than_a_payload_has_inputs_are_one_call(layer, steps):
    """The outputs of all steps are put side by side."""
    torch.manual_seed(0)
    samples = [(torch.randn(steps, 1, 2),) for _ in range(3)]
    compiled = compile_model(First(layer(2, 2)), samples[0], "cortex-m4", samples, io="int8", check=False)
    assert not compiled.obstacle and len(compiled.parts) == 1
