"""Recurrent layers become one call each layer and direction, or are computed step by step, give the results of
PyTorch's, and are delegated whole."""

import pytest
import torch
from torch import nn

from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.edge.recurrent_ops import LAYERS as OPERATORS
from cmsis_nn_delegate.quantization.recurrent import MAX_STEPS, compute_cells, separate_recurrent_layers
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster
from cmsis_nn_delegate.testing.lowering import Branch, Function, branches_apart

make_torch_faster()


class Hidden(nn.Module):
    """A layer without the last cell state."""

    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        y, last = self.layer(x)
        return y, last[0] if isinstance(last, tuple) else last


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


def separated(module, *inputs, trained=False):
    """Returns the calls of the rewritten model."""
    graph = torch.export.export(module.eval(), inputs).module(check_guards=False)
    separate_recurrent_layers(graph, trained)
    torch.testing.assert_close(graph(*inputs), module(*inputs))
    return [node.target for node in graph.graph.nodes if node.op == "call_function"]


def is_whole(targets):
    return any(name in str(target) for target in targets for name in ("lstm", "gru", "rnn"))


@pytest.mark.parametrize("name", [name for name in LAYERS if "projection" not in name])
def test_a_call_for_each_layer_and_direction(name):
    torch.manual_seed(0)
    layer = LAYERS[name]()
    calls = [target for target in separated(Hidden(layer), torch.randn(3, 2, 4)) if is_whole([target])]
    assert set(calls) <= set(OPERATORS)
    assert len(calls) == layer.num_layers * (2 if layer.bidirectional else 1)


@pytest.mark.parametrize("name", LAYERS)
def test_steps_compute_the_layer(name):
    torch.manual_seed(0)
    assert not is_whole(separated(LAYERS[name](), torch.randn(3, 2, 4), trained=True))


def test_what_kernels_do_not_compute_is_unrolled():
    torch.manual_seed(0)
    assert not is_whole(separated(LAYERS["lstm with a projection"](), torch.randn(3, 2, 4)))
    inputs = torch.randn(3, 2, 4), torch.randn(1, 2, 3), torch.randn(1, 2, 3)
    lstm = nn.LSTM(4, 3)
    assert not is_whole(separated(Function(lambda x, h, c: lstm(x, (h, c)), lstm=lstm), *inputs))


def test_long_sequences_that_kernels_do_not_compute_stay_whole():
    assert is_whole(separated(nn.RNN(2, 2), torch.randn(MAX_STEPS + 1, 1, 2), trained=True))


def test_cells_are_those_of_each_step():
    torch.manual_seed(0)
    lstm, x = nn.LSTM(4, 3), torch.randn(5, 2, 4)
    graph = torch.export.export(Hidden(lstm), (x,)).module(check_guards=False)
    separate_recurrent_layers(graph)
    compute_cells(graph)
    (cells,) = graph.graph.find_nodes(op="call_function", target=torch.ops.cmsis_nn_delegate.lstm_cells.default)
    output = graph.graph.output_node()
    output.args = ((cells, cells),)
    graph.recompile()
    expected = torch.cat([lstm(x[: step + 1])[1][1] for step in range(5)])
    torch.testing.assert_close(graph(x)[0], expected)


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


@pytest.mark.parametrize("layer", [nn.LSTM, nn.GRU, nn.RNN])
def test_many_steps_are_one_call(layer):
    torch.manual_seed(0)
    samples = [(torch.randn(1000, 1, 2),) for _ in range(3)]
    compiled = compile_model(First(layer(2, 2)), samples[0], "cortex-m4", samples, io="int8")
    assert not compiled.obstacle and len(compiled.parts) == 1
    assert len(compiled.payload) < 1024


@pytest.mark.parametrize("layer", [nn.LSTM, nn.GRU, nn.RNN])
def test_last_states_of_both_directions(layer):
    """They are the results of the last steps, and the sequence starts from zeros that the user made."""
    torch.manual_seed(0)
    module = layer(2, 3, 2, bidirectional=True, batch_first=True)

    def last(x):
        zeros = torch.zeros(4, 2, 3)
        states = module(x, (zeros, zeros) if layer is nn.LSTM else zeros)[1]
        return states[0] if layer is nn.LSTM else states

    samples = [(torch.randn(2, 70, 2),) for _ in range(3)]
    compiled = compile_model(Function(last, module=module), samples[0], "cortex-m4", samples)
    assert not compiled.obstacle and len(compiled.parts) == 1


def test_layers_of_many_steps_that_do_not_start_from_zeros_are_not_delegated():
    torch.manual_seed(0)
    lstm = nn.LSTM(2, 2)
    samples = [(torch.randn(MAX_STEPS + 1, 1, 2), *torch.randn(2, 1, 1, 2)) for _ in range(3)]
    with pytest.raises(UserError, match="no kernel"):
        compile_model(
            Function(lambda x, h, c: lstm(x, (h, c))[0], lstm=lstm), samples[0], "cortex-m4", samples, strict=True
        )
