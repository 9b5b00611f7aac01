"""Streaming models return what the model of the whole window does, byte for byte, or say why there is none."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from cmsis_nn_delegate import CmsisNnQuantizer, QuantizationConfig, reference
from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.streaming.equality import count_equal_windows
from cmsis_nn_delegate.streaming.option import Stream
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster

make_torch_faster()

F = nn.functional


class Model(nn.Module):
    def __init__(self, forward, **layers):
        super().__init__()
        self.form = forward
        for name, layer in layers.items():
            setattr(self, name, layer)

    def forward(self, x):
        return self.form(self, x)


def padded_both_sides():
    """Columns at both ends are computed anew, and a mean reads all of them."""
    net = nn.Sequential(
        *(
            nn.ZeroPad2d((1, 1, 2, 2)),
            nn.Conv2d(1, 8, (5, 4), 2),
            nn.ReLU(),
            nn.Conv2d(8, 8, 3, padding=1, groups=8),
            nn.BatchNorm2d(8),
        ),
        *(nn.ReLU(), nn.Conv2d(8, 8, 1), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1, groups=8), nn.ReLU()),
    )
    return Model(lambda m, x: m.out(m.net(x).mean((2, 3))), net=net, out=nn.Linear(8, 4)), (1, 1, 25, 8), 2


def causal():
    """Residual blocks of dilated convolutions, of which the last column is read."""
    layers = nn.ModuleList(nn.Conv1d(6, 6, 3, dilation=2**i) for i in range(3))

    def forward(m, x):
        for i, layer in enumerate(m.layers):
            x = x + torch.relu(layer(F.pad(x, (2 * 2**i, 0))))
        return m.out(x[:, :, -1])

    return Model(forward, layers=layers, out=nn.Linear(6, 3)), (1, 6, 30), 2


def unpadded_residual():
    """Crops what is added to a convolution without padding."""

    def forward(m, x):
        for layer in (m.a, m.b):
            x = x[:, :, 2:] + torch.relu(layer(x))
        return m.out(x).transpose(1, 2)

    layers = {"a": nn.Conv1d(6, 6, 3), "b": nn.Conv1d(6, 6, 3), "out": nn.Conv1d(6, 4, 1)}
    return Model(forward, **layers), (1, 6, 20), -1


def pooled():
    net = nn.Sequential(
        *(nn.Conv1d(4, 8, 5, stride=2, padding="valid"), nn.ReLU(), nn.MaxPool1d(3, 2, padding=1)),
        *(nn.Conv1d(8, 8, 3, padding="same"), nn.Hardswish(), nn.AvgPool1d(2)),
    )
    return Model(lambda m, x: m.out(m.net(x).flatten(1)), net=net, out=nn.Linear(8 * 3, 5)), (1, 4, 32), 2


def by_frames():
    """Linear layers on frames, [1, frames, features], normalized, gated, joined and sorted."""

    def forward(m, x):
        y = m.norm(torch.relu(m.first(x)))
        y = torch.cat([F.glu(y, -1), y[..., :4]], -1).softmax(-1).sort(-1)[0]
        return m.last(m.conv(y.transpose(1, 2)).amax(2))

    layers = {"first": nn.Linear(6, 16), "norm": nn.LayerNorm(16), "conv": nn.Conv1d(12, 8, 4), "last": nn.Linear(8, 3)}
    return Model(forward, **layers), (1, 12, 6), 1


FORMS = [
    (padded_both_sides, 1),
    (padded_both_sides, 4),
    (causal, 1),
    (causal, 5),
    (unpadded_residual, 1),
    (unpadded_residual, 3),
    (pooled, 2),
    (pooled, 8),
    (by_frames, 1),
]


def compiled(form, hop, **options):
    """Returns the streaming and the whole model, and signals of two windows and a half."""
    torch.manual_seed(0)
    model, shape, dim = form()
    signal = np.random.default_rng(0).normal(
        size=[5 * n // 2 if i == dim % len(shape) else n for i, n in enumerate(shape)]
    )
    signal = torch.from_numpy(signal.astype(np.float32))
    window = shape[dim]
    data = [(signal.narrow(dim, start, window).clone(),) for start in range(0, signal.shape[dim] - window + 1, 3)]
    both = [
        compile_model(model, data[0], "cortex-m55", data, stream=stream, strict=True, **options)
        for stream in (Stream(dim, hop), None)
    ]
    return (*both, signal, dim)


def crnn(layer, whole_signal=False):
    """Causal convolutions, of which one has a stride, and two recurrent layers."""

    def forward(m, x):
        y = torch.relu(m.conv(F.pad(x, (4, 0))))
        y = torch.relu(m.strided(F.pad(y, (1, 0))))
        y, _ = m.layers(y.transpose(1, 2))
        return m.out(y) if whole_signal else m.out(y[:, -1])

    layers = {"conv": nn.Conv1d(4, 6, 3, dilation=2), "strided": nn.Conv1d(6, 6, 3, stride=2), "out": nn.Linear(8, 3)}
    return Model(forward, layers=layer(6, 8, 2, batch_first=True), **layers), (1, 4, 24), 2


def projected_lstm(inputs, outputs, layers, **options):
    return nn.LSTM(inputs, outputs + 4, layers, proj_size=outputs, **options)


@pytest.mark.parametrize(
    "layer, hop, whole_signal",
    [(nn.GRU, 2, True), (nn.LSTM, 6, False), (projected_lstm, 4, True), (nn.RNN, 4, True)],
)
def test_a_recurrent_layer_goes_on(layer, hop, whole_signal):
    """Against a model of a longer window with the same scales: all outputs since the first inference."""
    streaming, whole, signal, dim = compiled(lambda: crnn(layer, whole_signal), hop, io="int8")
    assert streaming.stream.since_start and streaming.stream.warm_up == 0
    samples = whole.graph.inputs[0].type.quantize(signal.numpy())[:, :, :24]
    states = reference.initial_states(streaming.graph)
    hops = [samples[:, :, end - hop : end] for end in range(hop, 25, hop)]
    found = [reference.run(streaming.graph, [x], states=states)[0] for x in hops]
    (expected,) = reference.run(whole.graph, [samples])
    np.testing.assert_array_equal(np.concatenate(found, 1) if whole_signal else found[-1], expected)
    assert len({x.tobytes() for x in found}) > 2


@pytest.mark.parametrize("form, hop", FORMS, ids=lambda value: getattr(value, "__name__", str(value)))
def test_every_output_is_that_of_the_window_which_ends_there(form, hop):
    streaming, whole, signal, dim = compiled(form, hop, io="int8")
    stream = streaming.stream
    assert stream.compared > 1
    type_of_input, type_of_output = whole.graph.inputs[0].type, whole.graph.outputs[0].type
    assert type_of_input.quant == streaming.graph.inputs[0].type.quant
    assert type_of_output.quant == streaming.graph.outputs[0].type.quant
    samples = type_of_input.quantize(signal.numpy())
    states = reference.initial_states(streaming.graph)
    seen = set()
    for step in range(1, samples.shape[dim] // hop + 1):
        end = step * hop
        (found,) = reference.run(streaming.graph, [np.take(samples, np.arange(end - hop, end), dim)], states=states)
        if step <= stream.warm_up:
            continue
        (expected,) = reference.run(whole.graph, [np.take(samples, np.arange(end - stream.window, end), dim)])
        (kept,) = stream.outputs
        if kept is not None:
            expected = np.take(expected, np.arange(kept.first, kept.end), kept.dim)
        np.testing.assert_array_equal(found, expected)
        seen.add(found.tobytes())
    assert len(seen) > 2 or hop > 8  # the signal makes a difference


def test_a_streaming_model_computes_less():
    streaming, whole, *_ = compiled(causal, 1)
    assert streaming.report.macs < whole.report.macs / 3
    assert streaming.report.stream.whole_macs == whole.report.macs


def test_a_difference_is_found():
    """The comparison, which every compilation makes, is no formality."""
    streaming, whole, signal, dim = compiled(causal, 1)
    other = compile_model(causal()[0], (signal[:, :, :30],), "cortex-m55", [(signal[:, :, :30],)], stream=Stream(2))
    windows = [[signal.numpy()[:, :, start : start + 30]] for start in (0, 30)]

    class AsStreamed:
        window, warm_up, since_start, outputs = 30, 29, False, (None,)

    assert count_equal_windows(whole.graph, streaming.graph, AsStreamed, Stream(2), windows, print) > 2
    with pytest.raises(AssertionError, match="numbers are not those of the whole window"):
        count_equal_windows(whole.graph, other.graph, AsStreamed, Stream(2), windows, print)


def refused(forward, shape=(1, 4, 12), dim=2, hop=1, **layers):
    x = torch.randn(*shape)
    with pytest.raises(UserError) as caught:
        compile_model(Model(forward, **layers), (x,), "cortex-m55", [(x,)], stream=Stream(dim, hop), check=False)
    return str(caught.value)


@pytest.mark.parametrize(
    "forward, layers, why",
    [
        (lambda m, x: x.softmax(2), {}, "computes each column from all others"),
        (lambda m, x: torch.bmm(x.transpose(1, 2), x), {}, "multiplies columns with each other"),
        (
            lambda m, x: m.gru(x.transpose(1, 2))[0].mean(1),
            {"gru": nn.GRU(4, 4, batch_first=True)},
            "reads all columns",
        ),
        (
            lambda m, x: m.gru(m.conv(x).permute(2, 0, 1))[0],
            {"gru": nn.GRU(4, 4), "conv": nn.Conv1d(4, 4, 3)},
            "has 10 ",
        ),
        (
            lambda m, x: m.gru(x.permute(2, 0, 1))[0],
            {"gru": nn.GRU(4, 4, bidirectional=True)},
            "goes through the columns backwards",
        ),
        (lambda m, x: m.norm(x), {"norm": nn.GroupNorm(2, 4)}, "mean and variance of the whole window"),
        (lambda m, x: torch.relu(x) + torch.arange(12.0), {}, "differs from column to column"),
        (lambda m, x: torch.cat([x, x], 2), {}, "joins columns"),
        (lambda m, x: m.up(x), {"up": nn.ConvTranspose1d(4, 4, 2, stride=2)}, "not known here"),
    ],
)
def test_what_cannot_be_streamed_is_named_with_its_line(forward, layers, why):
    message = refused(forward, **layers)
    assert why in message
    assert "stream_test.py:" in message


def test_hops_that_do_not_fit_are_refused():
    conv = nn.Conv1d(4, 4, 3, stride=2)
    assert "2 columns of the input apart, which a hop of 3" in refused(lambda m, x: m.conv(x), hop=3, conv=conv)
    assert "a hop of 13 columns would skip some: the window has 12" in refused(lambda m, x: x.relu(), hop=13)
    assert "has no dimension 3 to stream along" in refused(lambda m, x: x.relu(), dim=3)
    with pytest.raises(UserError, match="a stream moves on by 0 columns"):
        Stream(2, 0)


def test_a_receptive_field_longer_than_the_window_is_refused():
    net = nn.Sequential(*(nn.Conv1d(4, 4, 9, padding=4) for _ in range(2)))
    assert "reads more than the 12 columns of the window" in refused(lambda m, x: m.net(x), net=net)


def test_a_layer_in_float32_that_reads_the_input_is_named():
    """Its columns are not kept: only what is quantized is."""
    quantizer = CmsisNnQuantizer().set_module_name("conv", QuantizationConfig(format="float32"))
    x = torch.randn(1, 4, 12)
    model = Model(lambda m, x: m.conv(x), conv=nn.Conv1d(4, 4, 3))
    with pytest.raises(UserError, match=r"read together .*conv.* computes in float32, as `format: float32` says"):
        compile_model(model, (x,), "cortex-m55", [(x,)], stream=Stream(2), quantizer=quantizer, check=False)


def test_a_model_with_a_state_is_refused():
    def forward(m, x):
        y = torch.cat([m.past, x], 2)
        m.past.copy_(y[:, :, 1:])
        return y.relu()

    model = Model(forward)
    model.register_buffer("past", torch.zeros(1, 4, 1))
    with pytest.raises(UserError, match="keeps a state of its own"):
        compile_model(model, (torch.ones(1, 4, 1),), "cortex-m55", [(torch.ones(1, 4, 1),)], stream=2, check=False)


@pytest.mark.parametrize("text", ["", "x", "2=", "2=a", "=1", "2=1=1"])
def test_other_text_is_no_stream(text):
    with pytest.raises(UserError, match="give DIM or DIM=HOP"):
        Stream.of(text)


def test_text_of_a_stream():
    assert Stream.of("2") == Stream(2, 1)
    assert Stream.of("-1=16") == Stream(-1, 16)
