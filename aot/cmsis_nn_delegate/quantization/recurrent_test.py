"""Recurrent layers become one call each layer and direction, or are computed step by step, give the results of
PyTorch's, and are delegated whole."""

import pytest
import torch
from executorch.exir import EdgeCompileConfig, to_edge_transform_and_lower
from torch import nn
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from cmsis_nn_delegate import CmsisNnPartitioner, CmsisNnQuantizer, VariableLength, quantizable_module, reference
from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.edge.recurrent_ops import LAYERS as OPERATORS
from cmsis_nn_delegate.edge.recurrent_ops import LSTM_CELLS, LSTM_PROJECTED, LSTM_PROJECTED_CELLS, LSTM_PROJECTED_UNITS
from cmsis_nn_delegate.quantization.configuration import QuantizationConfig
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
    "lstm with a projection": lambda: nn.LSTM(4, 3, 2, proj_size=2, bias=False, bidirectional=True),
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


@pytest.mark.parametrize("name", LAYERS)
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
    gru, projected = nn.GRU(4, 3), nn.LSTM(4, 5, proj_size=3)
    for start, whole in ((1.0, True), (1.5, False)):
        calls = separated(Function(lambda x, s=start: gru(x, torch.full((1, 2, 3), s)), gru=gru), torch.randn(3, 2, 4))
        assert is_whole(calls) is whole
    # Sums of units may be beyond 1.
    after = Function(lambda x: gru(x, projected(x)[1][0]), gru=gru, projected=projected)
    assert {target for target in separated(after, torch.randn(3, 2, 4)) if is_whole([target])} == {LSTM_PROJECTED}


def test_long_sequences_that_kernels_do_not_compute_stay_whole():
    assert is_whole(separated(nn.RNN(2, 2), torch.randn(MAX_STEPS + 1, 1, 2), trained=True))


@pytest.mark.parametrize("projected", [False, True])
def test_cells_and_units_are_those_of_each_step(projected):
    torch.manual_seed(0)
    lstm, x = nn.LSTM(4, 3, proj_size=2 if projected else 0), torch.randn(5, 2, 4)
    graph = torch.export.export(Hidden(lstm), (x,)).module(check_guards=False)
    separate_recurrent_layers(graph)
    compute_cells(graph)
    beside = (LSTM_PROJECTED_CELLS, LSTM_PROJECTED_UNITS) if projected else (LSTM_CELLS,)
    calls = [call for target in beside for call in graph.graph.find_nodes(op="call_function", target=target)]
    graph.graph.output_node().args = ((calls[0], calls[-1]),)
    graph.recompile()
    cells, units = graph(x)
    torch.testing.assert_close(cells, torch.cat([lstm(x[: step + 1])[1][1] for step in range(5)]))
    if projected:
        torch.testing.assert_close(units @ lstm.weight_hr_l0.T, lstm(x)[0])


class First(nn.Module):
    def __init__(self, layer):
        super().__init__()
        self.layer = layer

    def forward(self, x):
        return self.layer(x)[0]


DELEGATED = ("lstm of two layers", "lstm in both directions", "lstm with a projection", "gru", "rnn")


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


def projected_lstm(*sizes, **options):
    return nn.LSTM(*sizes, proj_size=1, **options)


@pytest.mark.parametrize("layer", [nn.LSTM, projected_lstm, nn.GRU, nn.RNN])
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


def test_layers_of_many_steps_that_kernels_do_not_compute_are_not_delegated():
    torch.manual_seed(0)
    samples = [(torch.randn(MAX_STEPS + 1, 1, 2),) for _ in range(3)]
    gru = nn.GRU(2, 2)
    module = Function(lambda x: gru(x, torch.full((1, 1, 2), 1.5))[0], gru=gru)
    with pytest.raises(UserError, match="no kernel for aten.gru.input.*if the initial state of a GRU"):
        compile_model(module, samples[0], "cortex-m4", samples, strict=True)


class EncoderAndDecoder(nn.Module):
    """The decoder starts from what a layer makes of the last states of the encoder."""

    def __init__(self, layer):
        super().__init__()
        self.encoder, self.decoder, self.between = layer(4, 6), layer(4, 6), nn.Linear(6, 6)

    def forward(self, x):
        _, last = self.encoder(x)
        if isinstance(last, tuple):
            last = torch.tanh(self.between(last[0])), last[1] * 0.5
        else:
            last = torch.tanh(self.between(last))
        return self.decoder(x, last)[0]


class PassedOn(EncoderAndDecoder):
    """The decoder starts from the last states of the encoder, cells included."""

    def forward(self, x):
        return self.decoder(x, self.encoder(x)[1])[0]


class Projected(PassedOn):
    """With as many states of units, and fewer hidden ones."""

    def __init__(self):
        super().__init__(lambda *sizes: nn.LSTM(*sizes, proj_size=3))


class Cells(EncoderAndDecoder):
    """The last cells go on as numbers, and are a result."""

    def forward(self, x):
        cells = self.encoder(x)[1][1]
        return self.between(cells[0]), cells


class Parameter(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.GRU(4, 6, 2, batch_first=True)
        self.start = nn.Parameter(torch.linspace(-0.5, 0.5, 12).reshape(2, 1, 6))

    def forward(self, x):
        return self.layer(x.transpose(0, 1), self.start)[0]


STARTS = {
    "lstm": lambda: EncoderAndDecoder(nn.LSTM),
    "gru": lambda: EncoderAndDecoder(nn.GRU),
    "rnn": lambda: EncoderAndDecoder(nn.RNN),
    "passed on": lambda: PassedOn(nn.LSTM),
    "passed on by a projection": Projected,
    "cells": lambda: Cells(nn.LSTM),
    "parameter": Parameter,
}


@pytest.mark.parametrize("name", STARTS)
def test_layers_start_from_any_state(name):
    torch.manual_seed(0)
    module, random = STARTS[name]().eval(), torch.Generator().manual_seed(1)
    samples = [(torch.randn(9, 1, 4, generator=random),) for _ in range(60)]
    compiled = compile_model(module, samples[0], "cortex-m4", samples[:40])
    assert len(compiled.parts) == 1 and not compiled.obstacle
    found, wanted = [], []
    with torch.no_grad():
        for x in samples[40:]:
            results = module(*x)
            wanted += [y.flatten() for y in (results if isinstance(results, tuple) else (results,))]
            found += [torch.from_numpy(y).flatten() for y in reference.run(compiled.parts[0].graph, [x[0].numpy()])]
    noise = torch.cat(found) - torch.cat(wanted)
    assert noise.square().sum() < 10**-2.8 * torch.cat(wanted).square().sum()


class OfLengths(nn.Module):
    def __init__(self, layer, **given):
        super().__init__()
        self.layer, self.given = VariableLength(layer), given
        self.out = nn.Linear(layer.proj_size or layer.hidden_size, 2)

    def forward(self, x, lengths=None):
        lengths = self.given.get("lengths", lengths)
        y, last = self.layer(x, lengths, self.given.get("states"))
        last, *cells = last if isinstance(last, tuple) else (last,)
        return (y, self.out(last[0]), self.out(last[-1]), *cells)


def packed(module, x, lengths):
    """The same, with PyTorch's packed sequences."""
    layer, states = module.layer.layer, module.given.get("states")
    y, last = layer(pack_padded_sequence(x, lengths, layer.batch_first, enforce_sorted=False), states)
    y, _ = pad_packed_sequence(y, layer.batch_first, total_length=x.shape[int(layer.batch_first)])
    last, *cells = last if isinstance(last, tuple) else (last,)
    return (y, module.out(last[0]), module.out(last[-1]), *cells)


OF_LENGTHS = {
    "lstm": lambda: OfLengths(nn.LSTM(4, 6, 2, batch_first=True, bidirectional=True)),
    "lstm with a projection": lambda: OfLengths(nn.LSTM(4, 6, 2, proj_size=3, bidirectional=True)),
    "lstm with a projection, without biases": lambda: OfLengths(nn.LSTM(4, 6, proj_size=3, bias=False)),
    "gru": lambda: OfLengths(nn.GRU(4, 6, bidirectional=True), states=torch.linspace(-1, 1, 36).view(2, 3, 6)),
    "rnn": lambda: OfLengths(nn.RNN(4, 6, 2, batch_first=True, bias=False)),
    "rnn of relu": lambda: OfLengths(nn.RNN(4, 6, nonlinearity="relu")),
    "constant lengths": lambda: OfLengths(nn.LSTM(4, 6), lengths=torch.tensor([9, 2, 5])),
}


def sequences(module, count, seed, dtype=torch.int64):
    random = torch.Generator().manual_seed(seed)
    shape = (3, 9, 4) if module.layer.layer.batch_first else (9, 3, 4)
    for _ in range(count):
        x = torch.randn(shape, generator=random)
        given = module.given.get("lengths")
        yield (x, torch.randint(1, 10, (3,), generator=random, dtype=dtype)) if given is None else (x,)


@pytest.mark.parametrize("name", OF_LENGTHS)
def test_exported_layers_of_lengths_compute_what_packed_sequences_give(name):
    torch.manual_seed(0)
    module = OF_LENGTHS[name]().eval()
    (sample,) = sequences(module, 1, 0)
    lengths = module.given.get("lengths", sample[-1])
    wanted = packed(module, sample[0], lengths)
    torch.testing.assert_close(module(*sample), wanted)
    program = torch.export.export(module, sample)
    torch.testing.assert_close(program.module()(*sample), wanted)
    # Where nothing delegates them, they are PyTorch's layers.
    spelled = program.run_decompositions()
    assert not any("cmsis_nn_delegate" in str(node.target) for node in spelled.graph.nodes)
    torch.testing.assert_close(spelled.module()(*sample), wanted)


class EachLayer(nn.Module):
    """All kinds of layers, of which the first starts from a state that it keeps."""

    def __init__(self):
        super().__init__()
        self.lstm = VariableLength(nn.LSTM(8, 24, batch_first=True))
        self.projected = nn.LSTM(24, 24, proj_size=16, batch_first=True)
        self.gru = nn.GRU(16, 24, batch_first=True)
        self.tanh = nn.RNN(24, 16, batch_first=True)
        self.relu = nn.RNN(16, 9, batch_first=True, nonlinearity="relu")
        self.register_buffer("hidden", torch.zeros(1, 3, 24))
        self.register_buffer("cells", torch.zeros(1, 3, 24))

    def forward(self, x, lengths):
        y, (hidden, cells) = self.lstm(x, lengths, (self.hidden, self.cells))
        self.hidden.copy_(hidden)
        self.cells.copy_(cells)
        last = hidden[0]
        for layer in (self.projected, self.gru, self.tanh, self.relu):
            y = layer(y)[0]
        return y, last


# The least signal to noise ratio, in dB, for activations and weights of these formats. It is 44.2 in int8.
RATIOS = {("int16", "int8"): 47, ("int8", "int4"): 20, ("int16", "int4"): 20}


@pytest.mark.parametrize("kind", RATIOS)
def test_layers_compute_in_each_format(kind):
    torch.manual_seed(0)
    module = EachLayer().eval()
    random = torch.Generator().manual_seed(1)
    samples = [
        (torch.randn(3, 9, 8, generator=random), torch.randint(1, 10, (3,), generator=random)) for _ in range(50)
    ]
    activations, weights = kind
    quantizer = CmsisNnQuantizer(preset="int16" if activations == "int16" else "minmax")
    if weights == "int4":
        quantizer.set_global(QuantizationConfig(weights=weights))
    compiled = compile_model(module, samples[0], "cortex-m55", samples[:30], quantizer=quantizer)
    assert len(compiled.parts) == 1 and not compiled.obstacle and not compiled.warnings
    graph = compiled.parts[0].graph
    layers = [node for node in graph.nodes if node.op in ("lstm", "lstm_projected", "gru", "rnn", "last_step")]
    assert len(layers) == 6
    for node in layers:
        assert {node.inputs[0].element.value, node.outputs[0].element.value} == {activations}
        if node.op != "last_step":
            assert {value.element.value for value in node.inputs[-4:-2]} == {weights}
    states, found, wanted = reference.initial_states(graph), [], []
    with torch.no_grad():
        for sample in samples[30:]:
            wanted += [y.flatten() for y in module(*sample)]
            results = reference.run(graph, [x.numpy() for x in sample], states=states)
            found += [torch.from_numpy(y).flatten() for y in results]
    noise = torch.cat(found) - torch.cat(wanted)
    ratio = 10 * torch.log10(torch.cat(wanted).var() / noise.square().mean())
    print(f"{kind}: {ratio:.1f} dB, {len(compiled.payload)} bytes")
    assert ratio > RATIOS[kind]


@pytest.mark.parametrize("name", OF_LENGTHS)
def test_layers_of_lengths_are_delegated(name):
    torch.manual_seed(0)
    module = OF_LENGTHS[name]().eval()
    dtype = torch.int32 if name == "gru" else torch.int64
    samples = list(sequences(module, 40, 0, dtype))
    compiled = compile_model(module, samples[0], "cortex-m4", samples)
    assert len(compiled.parts) == 1 and not compiled.obstacle
    assert [value.element.value for value in compiled.parts[0].graph.inputs[1:]] == [
        str(x.dtype).removeprefix("torch.") for x in samples[0][1:]
    ]
    signal = noise = 0.0
    with torch.no_grad():
        for sample in sequences(module, 20, 1, dtype):
            found = reference.run(compiled.parts[0].graph, [x.numpy() for x in sample])
            for ours, wanted in zip(found, module(*sample), strict=True):
                signal += wanted.square().sum()
                noise += (torch.from_numpy(ours) - wanted).square().sum()
    print(f"{name}: {10 * torch.log10(signal / noise):.1f} dB")
    assert noise < 10**-2.8 * signal


MASKED = {
    "booleans": (torch.bool, lambda mask: mask.sum(1)),
    "booleans as integers": (torch.bool, lambda mask: mask.to(torch.int64).sum(1)),
    "int32": (torch.bool, lambda mask: mask.sum(1, dtype=torch.int32)),
    "integers": (torch.int64, lambda mask: mask.sum(1).clamp(min=1)),
}


@pytest.mark.parametrize("name", MASKED)
def test_lengths_are_computed_from_a_mask_outside_of_the_delegate(name):
    dtype, lengths_of = MASKED[name]
    torch.manual_seed(0)
    layer, out = VariableLength(nn.GRU(4, 6, batch_first=True)), nn.Linear(6, 2)
    module = Function(lambda x, mask: out(layer(x, lengths_of(mask))[1][0]), layer=layer, out=out)
    lengths = torch.randint(1, 6, (40, 3))
    samples = [(torch.randn(3, 5, 4), (torch.arange(5) < steps[:, None]).to(dtype)) for steps in lengths]
    compiled = compile_model(module, samples[0], "cortex-m4", samples)
    (part,) = compiled.parts
    assert compiled.pte and part.graph.inputs[1].shape == (3,)
    (refused,) = [report for report in compiled.refused if "sum" in report.target]
    assert "leave it as it is" in refused.message and ".float()" not in refused.message
    signal = noise = 0.0
    with torch.no_grad():
        for x, mask in samples:
            (found,) = reference.run(part.graph, [x.numpy(), lengths_of(mask).numpy()])
            wanted = module(x, mask)
            signal += wanted.square().sum()
            noise += (torch.from_numpy(found) - wanted).square().sum()
    assert noise < 10**-2.8 * signal


def test_lengths_come_in_any_shape_but_not_with_other_numbers():
    torch.manual_seed(0)
    layer = VariableLength(nn.GRU(4, 6, batch_first=True))
    for given, lengths_of, whole in (((3, 1), lambda n: n.squeeze(1), True), ((3, 2), lambda n: n[:, 0], False)):
        module = Function(lambda x, n, of=lengths_of: layer(x, of(n))[0], layer=layer)
        samples = [(torch.randn(3, 5, 4), torch.randint(1, 6, given)) for _ in range(9)]
        compiled = compile_model(module, samples[0], "cortex-m4", samples)
        assert (compiled.payload is not None) == whole
        graph = compiled.parts[0].graph
        for x, n in samples:
            lengths = n if whole else lengths_of(n)
            (found,) = reference.run(graph, [x.numpy(), lengths.numpy()])
            assert (torch.from_numpy(found) - module(x, n)).abs().max() < 0.05
        assert [r.message for r in compiled.refused if "make them an input of their own" not in r.message] == []


def test_layers_of_lengths_train():
    """As PyTorch's do before export, and as the exported operator in training with quantization."""
    torch.manual_seed(0)
    module = OF_LENGTHS["lstm"]()
    (sample,) = sequences(module, 1, 0)
    program = torch.export.export(module, sample).module(check_guards=False)
    separate_recurrent_layers(program, trained=True)
    gradients = []
    for computes in (lambda *x: packed(module, *x), module, program):
        loss = sum(y.square().sum() for y in computes(*sample))
        parameters = program.parameters() if computes is program else module.parameters()
        gradients.append(torch.autograd.grad(loss, list(parameters)))
    for found in gradients[1:]:
        assert sorted(float(g.sum()) for g in found) == pytest.approx(
            sorted(float(g.sum()) for g in gradients[0]), rel=1e-3, abs=1e-4
        )


def test_layers_of_lengths_that_are_not_delegated_say_why():
    """A GRU whose initial state is beyond 1, which its 16 bits cannot hold."""
    torch.manual_seed(0)
    module = OfLengths(nn.GRU(4, 6), states=torch.full((1, 3, 6), 1.5)).eval()
    (sample,) = sequences(module, 1, 0)
    with pytest.raises(UserError, match="sequence_gru.*if the initial state of a GRU is a constant or a result from"):
        compile_model(module, sample, "cortex-m4", [sample], strict=True)


@pytest.mark.parametrize(
    "layer, x, message",
    [
        (nn.Linear(4, 4), None, "takes an nn.LSTM, nn.GRU or nn.RNN, not Linear"),
        (nn.GRU(4, 4), torch.zeros(9, 4), "a batch, with 3 dimensions, not 2"),
    ],
)
def test_what_has_no_lengths_is_refused(layer, x, message):
    with pytest.raises(UserError, match=message):
        VariableLength(layer)(x, torch.tensor([9]))


@pytest.mark.parametrize(
    "lengths, message",
    [
        ([3], r"have the shape \[1\], and the batch has 2 sequences: give a tensor \[2\] with one length for each"),
        ([[3, 4]], r"have the shape \[1, 2\]"),
        ([3.0, 4.0], r"are float32, and have to be int64 or int32: .*such as mask.sum\(1\)"),
        ([5, 7], "sequence 1 of the batch has the length 7, which is not from 1 to 5"),
        ([0, 5], "sequence 0 of the batch has the length 0, which is not from 1 to 5"),
    ],
)
@pytest.mark.parametrize("form", ["eager", "inputs", "constants"])
def test_lengths_that_do_not_fit_are_refused(form, lengths, message):
    """As they are found by the module before export, and by the compiler in samples and models."""
    torch.manual_seed(0)
    lengths = torch.tensor(lengths)
    module = OfLengths(nn.GRU(4, 6, batch_first=True), **({"lengths": lengths} if form == "constants" else {})).eval()
    sample = (torch.randn(2, 5, 4), *(() if form == "constants" else (lengths,)))
    with pytest.raises(UserError, match=message):
        module(*sample) if form == "eager" else compile_model(module, sample, "cortex-m4", [sample])


@pytest.mark.parametrize(
    "lengths, constant",
    [
        (torch.tensor([2]), False),
        (torch.tensor([[1, 2]]), True),
        (torch.tensor([1, 2], dtype=torch.int16), True),
    ],
)
def test_calls_of_the_operator_with_other_lengths_are_not_delegated(constant, lengths):
    """PyTorch computes them: [1] is broadcast to the batch. A kernel would read other bytes than are there."""
    torch.manual_seed(0)
    layer = nn.RNN(4, 6, batch_first=True)

    def compute(x, given=lengths):
        states, weights = torch.zeros(1, 2, 6), layer.all_weights[0]
        arguments = (x, states, weights, True, 1, 0.0, False, False, True, given)
        return torch.ops.cmsis_nn_delegate.sequence_rnn_tanh(*arguments)[0]

    sample = (torch.randn(2, 2, 4), *(() if constant else (lengths,)))
    compiled = compile_model(Function(compute, layer=layer), sample, "cortex-m4", [sample])
    assert "cmsis_nn_delegate.rnn_tanh.default" in {report.function_target for report in compiled.refused}


def test_lengths_computed_from_quantized_floats_are_refused():
    torch.manual_seed(0)
    layer = VariableLength(nn.GRU(4, 6, batch_first=True))
    module = Function(lambda x, mask: layer(x, mask.sum(1).long())[0], layer=layer).eval()
    lengths = torch.randint(1, 6, (20, 3))
    samples = [(torch.randn(3, 5, 4), (torch.arange(5) < steps[:, None]).float()) for steps in lengths]
    with pytest.raises(UserError, match="not exact once they are quantized, so compute them from integers or booleans"):
        compile_model(module, samples[0], "cortex-m4", samples)


def test_packed_sequences_are_refused_with_what_to_use_instead():
    layer = nn.GRU(4, 3)
    module = Function(
        lambda x, n: pad_packed_sequence(layer(pack_padded_sequence(x, n, enforce_sorted=False))[0])[0], layer=layer
    )
    sample = (torch.randn(9, 2, 4), torch.tensor([3, 9]))
    with pytest.raises(UserError, match=r"cannot export pack_padded_sequence.*VariableLength\(layer\)") as refused:
        compile_model(module, sample, "cortex-m4", [sample])
    assert "integers" not in str(refused.value)


def quantized(module, *inputs):
    prepared = prepare_pt2e(quantizable_module(torch.export.export(module, inputs)), CmsisNnQuantizer())
    prepared(*inputs)
    return convert_pt2e(prepared)


def graph_node(module, x):
    """The only layer of a model."""
    compiled = compile_model(module, (x,), "cortex-m4", [(x,)], check=False)
    (node,) = (node for node in compiled.encoded.graph.nodes if is_whole([node.op]))
    return node


@pytest.mark.parametrize("gain", [0.01, 1.0, 30.0])
def test_cells_have_the_least_power_of_two_that_holds_all_steps(gain):
    """The cells are largest in the middle of the sequence, where nothing outside of the layer sees them."""
    torch.manual_seed(0)
    lstm = nn.LSTM(2, 3)
    with torch.no_grad():
        lstm.bias_ih_l0[3:6] = 4.0  # keeps the cells
        lstm.weight_ih_l0.mul_(gain)
    x = torch.cat([torch.ones(20, 1, 2), -torch.ones(20, 1, 2)])
    largest = max(float(lstm(x[: steps + 1])[1][1].abs().max()) for steps in range(40))
    bits = graph_node(First(lstm), x).attrs.cell_bits
    assert largest * 2**bits <= 32767 and (bits == 15 or largest * 2 ** (bits + 1) > 32767)


def test_cells_that_stay_small_have_the_smallest_step():
    """Which is coarser than their range alone would ask for, and no error of the observer."""
    torch.manual_seed(0)
    lstm, data = nn.LSTM(2, 3), [(torch.randn(5, 1, 2) * 0.1,) for _ in range(4)]
    with torch.no_grad():
        lstm.bias_ih_l0.zero_()
        lstm.bias_hh_l0.zero_()
    compiled = compile_model(First(lstm), data[0], "cortex-m4", data)
    (layer,) = (node for node in compiled.graph.nodes if node.op == "lstm")
    assert layer.attrs.cell_bits == 15


def test_an_lstm_of_an_input_beside_an_operator_in_float():
    """Its cells are read by nothing, and still belong to what is quantized."""
    lstm = nn.LSTM(2, 3)
    x = torch.randn(5, 1, 2)
    module = Function(lambda x: (lstm(x)[0], torch.special.zeta(x.abs() + 2, 1.0)), lstm=lstm)
    compiled = compile_model(module, (x,), "cortex-m4", [(x,)])
    assert [node.op for node in compiled.parts[0].graph.nodes].count("lstm") == 1


@pytest.mark.parametrize("gain", [0.02, 1.0])
def test_units_have_the_range_of_all_steps(gain):
    """Whatever the projection makes of them."""
    torch.manual_seed(0)
    lstm, x = nn.LSTM(2, 6, proj_size=2), torch.randn(20, 1, 2)
    with torch.no_grad():
        lstm.weight_hr_l0.mul_(gain)
        *weights, projection = lstm.all_weights[0]
        states = torch.zeros(1, 2), torch.zeros(1, 6)
        units = LSTM_PROJECTED_UNITS(x, *states, *weights, projection, torch.zeros(1), False, False)
    step = float(units.max() - units.min()) / 255
    assert 0.8 * step <= graph_node(First(lstm), x).attrs.unit_scale <= 1.01 * step


@pytest.mark.parametrize("kind, gates", [(nn.LSTM, 4), (nn.GRU, 3)])
def test_each_gate_has_one_scale_for_its_largest_weight(kind, gates):
    torch.manual_seed(0)
    layer = kind(2, 3)
    weight = graph_node(First(layer), torch.randn(5, 1, 2)).inputs[-4]
    largest = layer.weight_ih_l0.detach().reshape(gates, -1).abs().amax(1)
    expected = (largest / 127).repeat_interleave(3)
    torch.testing.assert_close(torch.tensor(weight.quant.scale), expected, check_dtype=False, rtol=1e-5, atol=0)


def test_a_refused_layer_is_given_back_to_pytorch():
    """CMSIS-NN has no GRU."""
    torch.manual_seed(0)
    x = torch.randn(3, 1, 2)
    module = quantized(First(nn.GRU(2, 3)).eval(), x)
    partitioner = CmsisNnPartitioner("cortex-m55", providers=["cmsis-nn"])
    edge = to_edge_transform_and_lower(
        torch.export.export(module, (x,)),
        partitioner=[partitioner],
        compile_config=EdgeCompileConfig(_check_ir_validity=False),
    )
    program = edge.exported_program()
    assert not any("cmsis_nn_delegate" in str(node.target) for node in program.graph.nodes)
    torch.testing.assert_close(program.module()(x), module(x))
    edge.to_executorch()


def test_sums_beyond_32_bits_are_refused():
    gru = nn.GRU(2, 3)
    with torch.no_grad():
        gru.weight_ih_l0.mul_(1e-7)
        gru.bias_ih_l0.fill_(1e4)
    with pytest.raises(UserError, match="sums of w_ih may exceed 32 bits"):
        compile_model(First(gru), (torch.randn(3, 1, 2),), "cortex-m4", [(torch.randn(3, 1, 2),)], strict=True)
