"""Activations of 16 bits: what computes in them, what is converted before and after, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import nn
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

from cmsis_nn_delegate import CmsisNnQuantizer, QuantizationConfig, compile_model
from cmsis_nn_delegate.graph.tensor_type import Element
from cmsis_nn_delegate.reference import run
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.testing.lowering import exported, lower_program, lowered, steps_apart

INT16 = "int16"


def elements(graph):
    """The operators of `graph`, each with the types of its activations."""
    found = []
    for node in graph.nodes:
        kinds = {v.element for v in (*node.inputs, *node.outputs) if not v.is_constant and v.element.is_activation}
        found.append((node.op, {kind.value for kind in kinds}))
    return found


class Everything(nn.Module):
    """Every operator that takes int16, with what moves values between them."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(2, 8, 3, padding=1)
        self.depthwise = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.pointwise = nn.Conv2d(8, 8, 1)
        self.head = nn.Linear(16, 5)

    def forward(self, x):
        x = torch.relu(self.stem(x))
        y = self.pointwise(torch.relu(self.depthwise(x)))
        z = torch.relu(x + y)
        gated = z * z.mean((2, 3), keepdim=True)
        pooled = F.max_pool2d(gated, 2)
        padded = F.pad(pooled, (1, 0, 0, 1), mode="circular")
        turned = torch.clamp(padded.flip(2).transpose(2, 3), -0.5, 0.5)
        joined = torch.cat((F.avg_pool2d(turned, 2), F.avg_pool2d(padded, 2)), 1)
        return self.head(joined.mean((2, 3)))


def quantizer():
    return CmsisNnQuantizer(preset=INT16)


def test_all_of_a_network_computes_in_int16_and_within_a_step_of_pytorch():
    torch.manual_seed(0)
    # Steps of the output are 2^8 times finer than those of int8, and each layer rounds once.
    distances, graph = steps_apart(Everything().eval(), torch.randn(2, 2, 8, 8), quantizer=quantizer())
    assert {kind for _, kinds in elements(graph) for kind in kinds} == {INT16}
    ops = {op for op, _ in elements(graph)}
    assert ops >= {"conv2d", "add", "mul", "avg_pool2d", "max_pool2d", "fully_connected", "pad_nd"}
    assert not ops & {"lookup", "depthwise_conv2d"}
    assert distances[0] <= 8


@pytest.mark.parametrize("stride", [1, 2])
def test_transposed_convolutions_of_a_channel_each(stride):
    """They become convolutions, but depthwise_conv2d takes only int8."""
    torch.manual_seed(0)
    model = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.ConvTranspose2d(8, 8, 4, stride, 1, groups=8)).eval()
    distances, graph = steps_apart(model, torch.randn(1, 3, 8, 8), quantizer=quantizer())
    assert {op for op, _ in elements(graph)} & {"depthwise_conv2d"} == set()
    assert distances[0] <= 8
    inputs = (torch.randn(1, 3, 8, 8),)
    assert compile_model(model, inputs, "cortex-m4", [inputs], quantizer=quantizer(), check=False).payload


def test_numbers_larger_than_those_of_calibration_are_not_clipped():
    torch.manual_seed(6)
    layers = nn.Linear(8, 16, bias=False), nn.ReLU(), nn.Linear(16, 4, bias=False)
    model, x = nn.Sequential(*layers), torch.rand(4, 8)
    compiled = compile_model(model, (x,), "cortex-m4", [(x,)], quantizer=quantizer())
    (found,) = run(compiled.graph, [(1.9 * x).numpy()])
    assert np.abs(found - model(1.9 * x).detach().numpy()).max() < 0.01


def test_inputs_and_outputs_may_be_int16():
    torch.manual_seed(1)
    distances, graph = steps_apart(nn.Linear(9, 4), torch.randn(3, 9), io=INT16, quantizer=quantizer())
    assert [node.op for node in graph.nodes] == ["fully_connected"]
    assert [value.element for value in (*graph.inputs, *graph.outputs)] == [Element.INT16] * 2
    assert distances[0] <= 1


def test_what_has_no_kernel_for_int16_is_computed_in_int8_and_named():
    class Doubled(nn.Linear):
        def forward(self, x):
            y = super().forward(x)
            return torch.floor(y + y)

    model, x = Doubled(9, 4).eval(), torch.randn(3, 9)
    found = []
    compiled = compile_model(model, (x,), "cortex-m4", [(x,)], quantizer=quantizer(), inspect=found.append)
    assert [op for op, _ in elements(found[0].graphs[0])] == [
        "quantize",
        "fully_connected",
        "add",
        "rescale",
        "lookup",
        "dequantize",
    ]
    (note,) = [warning for warning in compiled.warnings if "int8" in warning]
    assert note == (
        "floor (aten.floor.default) computes in int8, because there is no kernel for it in int16; values are converted "
        "before and after it"
    )  # and not the sum, which has one


class Functions(nn.Linear):
    """Functions of one number, some of which are a line between two limits."""

    def forward(self, x):
        y = super().forward(x)
        lines = y * 0.5, y + 1, 1 - y / 3, F.relu6(6 * y), F.hardsigmoid(-4 * y), torch.where(y > 0.2, y, 0.1 * y)
        return *lines, torch.sigmoid(y), torch.tanh(y), F.gelu(y), F.leaky_relu(y), y.exp(), F.relu(y).sqrt()


def test_functions_of_one_number_are_rescaled_or_interpolated_in_int16():
    torch.manual_seed(0)
    distances, graph = steps_apart(Functions(9, 40).eval(), torch.randn(64, 9), quantizer=quantizer())
    assert {kind for _, kinds in elements(graph) for kind in kinds} == {INT16}
    tables = [node.attrs.functions for node in graph.nodes if node.op == "lookup"]
    assert sorted(tables) == [(name,) for name in ("exp", "gelu", "leaky_relu", "sigmoid", "sqrt", "tanh")]
    *others, root = distances
    assert max(others) <= 16  # which are few of the 2^16
    assert root <= 300  # just above 0, where it is steep


class Reductions(nn.Linear):
    """Reductions, and extrema of two tensors."""

    def forward(self, x):
        y = super().forward(x)
        reduced = y.sum(1), y.mean((0, 1)), y.amax(1), y.amin(0)
        return *reduced, torch.maximum(y, -y), torch.minimum(y, y[:1]), y.softmax(0), y.softmax(1), y.argmax(1)


def test_reductions_and_extrema_and_softmax_compute_in_int16():
    torch.manual_seed(3)
    distances, graph = steps_apart(Reductions(9, 40).eval(), torch.randn(20, 9), quantizer=quantizer())
    assert {kind for _, kinds in elements(graph) for kind in kinds} == {INT16}
    *others, across, along, index = distances
    assert max(others) <= 4 and index == 0
    assert max(across, along) <= 16  # whose exponentials are interpolated


class Large(nn.Module):
    """Each of its functions has more elements than a kernel for int16 takes, and one has as many as it takes."""

    def forward(self, x):
        reduced = x.mean((2, 3)), x.sum((2, 3)), F.adaptive_avg_pool2d(x, 1), F.avg_pool2d(x, (260, 260))
        uneven = F.adaptive_avg_pool2d(torch.cat((x, x, x, x[..., :2]), 3), (1, 3))
        normed = F.instance_norm(x), F.layer_norm(x, x.shape[2:]), F.group_norm(x, 1)
        return *reduced, uneven, *normed, (20 * x).flatten().softmax(0), x[:, :, :240].mean((2, 3))


def test_what_is_too_large_for_kernels_of_int16_is_computed_in_int8_and_named():
    torch.manual_seed(7)
    model, x = Large(), 1 + torch.rand(1, 1, 260, 260)
    x[0, 0, 3, 5] = 3.0  # which wins the softmax
    compiled = compile_model(model, (x,), "cortex-m4", [(x,)], quantizer=quantizer())
    assert compiled.graph is not None and all(report.delegated for report in compiled.reports)
    found = run(compiled.graph, [x.numpy()])
    for result, wanted in zip(found, model(x)):
        exact = wanted.numpy()
        assert np.abs(result - exact).max() <= 0.02 * np.abs(exact).max()
    (note,) = [warning for warning in compiled.warnings if "of this many elements" in warning]
    assert "mean (aten.mean.dim), sum_1 (aten.sum.dim_IntList)" in note and "4 others compute in int8" in note
    assert {INT16} in [kinds for op, kinds in elements(compiled.graph) if op == "avg_pool2d"]  # 240 rows


@pytest.mark.parametrize(
    "function", [lambda x: x.sum((2, 3)), lambda x: x.mean((2, 3)), lambda x: F.adaptive_avg_pool2d(x, (1, 3))]
)
def test_sums_of_too_many_elements_in_int16_are_refused_with_what_helps(function):
    """Of a program that was quantized elsewhere."""

    class Sum(nn.Module):
        def forward(self, x):
            return function(x)

    x = torch.rand(1, 1, 400, 524)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("cmsis_nn_delegate.quantization.quantizer._takes_size", lambda *_: True)
        reports = lowered(Sum(), x, quantizer=quantizer()).reports
    (message,) = [report.message for report in reports if report.target.startswith("aten.")]
    assert "may exceed 32 bits" in message and "and then" in message


def noise(found, wanted):
    """The distance of two arrays in dB of the second one."""
    return 10 * np.log10((wanted**2).sum() / ((found - wanted) ** 2).sum())


class Rows(nn.Module):
    def forward(self, *rows):
        return tuple(x.softmax(1) for x in rows)


def test_softmax_counts_what_is_far_below_a_winner_in_rows_of_any_length():
    """Together, what is 8 to 12 below decides about the winner of a row of thousands. Rounded to 15 bits before they
    are added, as in TensorFlow Lite, such elements leave 42 dB of a row of 1,000, and 31 of one of 4,096."""
    torch.manual_seed(8)
    rows = tuple(-8 - 4 * torch.rand(3, size) for size in (10, 100, 1000, 4096))
    for x in rows:
        x[:, 3] = 0
    compiled = compile_model(Rows(), rows, "cortex-m4", [rows], quantizer=quantizer())
    found = run(compiled.graph, [x.numpy() for x in rows])
    # An element is within 2 steps, of 1/32768, which is much of an element in a row of thousands.
    wanted = [x.softmax(1).numpy() for x in rows]
    assert [noise(a, b) > least for a, b, least in zip(found, wanted, (85, 75, 65, 58))] == [True] * 4
    assert max(np.abs(a - b).max() for a, b in zip(found, wanted)) <= 2.5 / 32768


class Masked(nn.Module):
    """What a mask hides parts of, a logarithm, and rows of a table."""

    def __init__(self):
        super().__init__()
        self.table = nn.Embedding(20, 6)

    def forward(self, x, indices):
        hidden = torch.ones(6, 6, dtype=torch.bool).triu(1)
        scores = self.table(indices) @ x
        return scores.masked_fill(hidden, float("-inf")).softmax(-1), F.log_softmax(x, -1)


def test_masks_logarithms_and_tables_compute_in_int16():
    torch.manual_seed(9)
    x, indices = 2 * torch.randn(6, 6), torch.randint(0, 20, (6,))
    compiled = compile_model(Masked().eval(), (x, indices), "cortex-m4", [(x, indices)], quantizer=quantizer())
    kinds = {kind for _, found in elements(compiled.graph) for kind in found}
    assert kinds == {INT16} and not compiled.warnings
    assert {op for op, _ in elements(compiled.graph)} >= {"masked_softmax", "log_softmax", "embedding"}


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.query, self.key, self.value = nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 8)

    def forward(self, x):
        scores = self.query(x) @ self.key(x).transpose(1, 2) / 8**0.5
        return scores.softmax(-1) @ self.value(x)


def test_attention_computes_in_int16():
    torch.manual_seed(4)
    distances, graph = steps_apart(Attention().eval(), torch.randn(2, 6, 8), quantizer=quantizer())
    assert {kind for _, kinds in elements(graph) for kind in kinds} == {INT16}
    assert [op for op, _ in elements(graph)].count("batch_matmul") == 2
    assert distances[0] <= 16


class Decoder(nn.Module):
    """What makes images larger, and norms."""

    def __init__(self):
        super().__init__()
        self.up, self.grouped = nn.ConvTranspose2d(4, 4, 3, stride=2), nn.ConvTranspose2d(4, 4, 2, stride=2, groups=2)
        self.channels, self.pixels, self.slopes = nn.GroupNorm(2, 4), nn.LayerNorm(8), nn.PReLU(4)

    def forward(self, x):
        larger = self.channels(self.up(x)) + F.interpolate(x, size=(9, 9), mode="bilinear")
        normed = self.pixels(F.interpolate(self.grouped(larger), size=(8, 8), mode="nearest"))
        pooled = F.adaptive_avg_pool2d(self.slopes(normed), 3)
        return pooled / (pooled.abs() + 1)


def test_transposed_convolutions_resampling_norms_and_quotients_compute_in_int16():
    torch.manual_seed(5)
    distances, graph = steps_apart(Decoder().eval(), torch.randn(2, 4, 4, 4), quantizer=quantizer())
    assert {kind for _, kinds in elements(graph) for kind in kinds} == {INT16}
    ops = {op for op, _ in elements(graph)}
    assert ops >= {"transpose_conv2d", "resize_bilinear", "resize_nearest", "normalize"}
    assert ops >= {"prelu", "adaptive_avg_pool2d", "div"}
    assert distances[0] <= 16


def test_chosen_rows_keep_the_precision_of_what_chooses_them():
    """A comparison in int16 has its threshold between two numbers of int16, and not of int8."""

    class Above(nn.Module):
        def forward(self, x):
            return torch.where(x > 0.5, 1.0, -1.0) * 0.5

    x = torch.tensor([[-1.0, 0.4999, 0.5001, 1.0]])
    distances, _ = steps_apart(Above(), x, quantizer=quantizer())
    assert distances[0] <= 2


def test_a_module_has_a_format_of_its_own():
    quantizer = CmsisNnQuantizer()
    quantizer.set_module_name("1", QuantizationConfig(format=INT16))
    model = nn.Sequential(nn.Linear(9, 8), nn.Linear(8, 6), nn.Linear(6, 4))
    distances, graph = steps_apart(model, torch.randn(3, 9), quantizer=quantizer)
    layers = [kinds for op, kinds in elements(graph) if op == "fully_connected"]
    assert layers == [{"int8"}, {INT16}, {"int8"}]
    # Between them, nothing becomes float.
    assert [op for op, _ in elements(graph)] == [
        *("quantize", "fully_connected", "rescale", "fully_connected", "rescale", "fully_connected", "dequantize")
    ]
    assert distances[0] <= 1


def test_a_module_of_16_bits_needs_no_other_observer():
    torch.manual_seed(0)
    quantizer = CmsisNnQuantizer()  # whose observer leaves out outliers, in 2048 bins
    quantizer.set_module_name("1", QuantizationConfig(format=INT16))
    samples = [(torch.randn(1, 8),) for _ in range(20)]
    compiled = compile_model(
        nn.Sequential(nn.Linear(8, 8), nn.Linear(8, 8), nn.Linear(8, 3)),
        samples[0],
        "cortex-m4",
        samples,
        quantizer=quantizer,
    )
    assert {value.element for node in compiled.graph.nodes for value in node.outputs} >= {Element.INT8, Element.INT16}


def test_padding_before_a_convolution_of_another_format_is_not_folded():
    class Padded(nn.Module):
        def __init__(self):
            super().__init__()
            self.layers = nn.Sequential(nn.Conv2d(2, 3, 1), nn.Conv2d(3, 2, 3))

        def forward(self, x):
            return self.layers[1](F.pad(self.layers[0](x), (1, 1, 1, 1)))

    torch.manual_seed(1)
    quantizer = CmsisNnQuantizer()
    quantizer.set_module_name("layers.1", QuantizationConfig(format=INT16))
    distances, graph = steps_apart(Padded(), torch.randn(1, 2, 5, 5), quantizer=quantizer)
    assert [op for op, kinds in elements(graph) if kinds == {"int8"}].count("pad_nd") == 1
    assert distances[0] <= 1


def test_a_difference_that_is_always_zero_has_steps_that_the_kernel_takes():
    class Zero(nn.Linear):
        def forward(self, x):
            y = super().forward(x)
            return y - y

    distances, graph = steps_apart(Zero(9, 4), 1000 * torch.randn(3, 9), quantizer=quantizer())
    assert [op for op, kinds in elements(graph) if kinds == {INT16}][-2:] == ["add", "dequantize"]
    assert distances == [0]


class Extremes(nn.Module):
    """Layers whose sums or biases do not fit 32 bits, and a difference of equal tensors."""

    def __init__(self):
        super().__init__()
        self.long, self.vanishing, self.unused = nn.Linear(600, 2), nn.Linear(8, 3), nn.Linear(8, 3)
        self.grouped = nn.Conv1d(8, 8, 3, groups=8)
        nn.init.constant_(self.long.weight, 1.0)
        with torch.no_grad():
            for layer in (self.vanishing, self.grouped):
                layer.weight[1] *= 1e-6
                layer.bias[1] = 0.7

    def forward(self, x, y, z):
        unused = self.unused(torch.relu(y - 100 * torch.ones(8)))
        vanishing = torch.relu(self.vanishing(y / 10)), self.grouped(y.reshape(1, 8, 3) / 10)
        return self.long(x), *vanishing, unused, y - z


def test_sums_have_64_bits_where_those_of_products_may_need_them():
    """A channel that is nearly its bias alone gets coarser weights instead, which lose next to nothing."""
    torch.manual_seed(2)
    x, y = torch.randn(3, 600), torch.randn(3, 8)
    inputs, model = (x, y, y.clone()), Extremes().eval()
    compiled = compile_model(model, inputs, "cortex-m4", [inputs], quantizer=quantizer())
    assert {kind for _, kinds in elements(compiled.graph) for kind in kinds} == {INT16}
    wide = [node for node in compiled.graph.nodes if node.op == "conv2d_wide"]
    assert [node.inputs[1].shape[1] for node in wide] == [600]
    assert not [warning for warning in compiled.warnings if "bits" in warning]
    found = run(compiled.graph, [value.numpy() for value in inputs])
    wanted = [value.detach().numpy() for value in model(*inputs)]
    assert noise(found[0], wanted[0]) > 70 and min(map(noise, found[1:3], wanted[1:3])) > 40
    assert all(np.abs(a - b).max() <= 0.01 * np.abs(b).max() for a, b in zip(found, wanted))


def test_coarser_weights_of_transposed_convolutions_are_noted():
    layer, x = nn.ConvTranspose2d(600, 2, 1), torch.randn(1, 600, 1, 1)
    nn.init.constant_(layer.weight, 1.0)
    compiled = compile_model(layer, (x,), "cortex-m4", [(x,)], quantizer=quantizer())
    (note,) = [warning for warning in compiled.warnings if "32 bits" in warning]
    assert "up to 1.2 times larger, so that sums of 600 products with int16 fit 32 bits" in note


def test_sums_that_may_exceed_32_bits_are_refused_where_no_kernel_has_64():
    layer = nn.ConvTranspose2d(600, 2, 1)
    nn.init.constant_(layer.weight, 1.0)
    x = torch.randn(1, 600, 1, 1)
    prepared = prepare_pt2e(torch.export.export(layer, (x,)).module(), quantizer())
    prepared(x)
    with pytest.raises(ValueError, match="sums of 600 products may exceed 32 bits"):
        lower_program(torch.export.export(convert_pt2e(prepared), (x,)))
    assert all(report.delegated for report in lowered(layer, x).reports)  # in int8 they fit


@pytest.mark.parametrize("preset, io, what", [(INT16, "int8", "input x"), ("default", INT16, "input x")])
def test_an_io_of_another_type_says_what_the_model_has(preset, io, what):
    class Layer(nn.Linear):
        def forward(self, x):
            return super().forward(x)

    x = torch.randn(1, 9)
    with pytest.raises(UserError) as error:
        compile_model(Layer(9, 4), (x,), "cortex-m4", [(x,)], quantizer=CmsisNnQuantizer(preset=preset), io=io)
    found = "int16" if preset == INT16 else "int8"
    assert f"{what} cannot become {io}: it is quantized to {found}" in str(error.value)


def test_a_result_of_another_type_says_so():
    class Floored(nn.Linear):
        def forward(self, x):
            return torch.floor(super().forward(x))

    x, model = torch.randn(1, 9), Floored(9, 4).eval()
    with pytest.raises(UserError, match=r"output 0 .* cannot become int16: it is quantized to int8"):
        compile_model(model, (x,), "cortex-m4", [(x,)], quantizer=quantizer(), io=INT16)


@pytest.mark.parametrize(
    "io, wanted",
    [
        ("quantized", ["int16", "int16", "int8", "float32"]),
        ({"y": "int16", "outputs": "quantized"}, ["float32", "int16", "int8", "float32"]),
        ("output0=int8,x=int16", ["int16", "float32", "int8", "float32"]),
    ],
)
def test_each_input_and_output_may_have_a_type_of_its_own(io, wanted):
    class Mixed(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.head = nn.Linear(6, 4), nn.Linear(4, 3)

        def forward(self, x, y):
            z = self.layer(x) + y
            return self.head(z), torch.atan2(z, z + 2.0)

    mixed = quantizer().set_module_name("head", QuantizationConfig(format="int8"))
    x = torch.randn(2, 6), torch.randn(2, 4)
    stages = []
    compile_model(Mixed(), x, "cortex-m4", [x], quantizer=mixed, io=io, inspect=stages.append)
    graph, signature = stages[0].program.graph, stages[0].program.graph_signature
    borders = [node for node in graph.nodes if node.name in signature.user_inputs] + list(graph.output_node().args[0])
    assert [str(node.meta["val"].dtype).removeprefix("torch.") for node in borders] == wanted


@pytest.mark.parametrize("size", [512, 513])
def test_recurrent_layers_compute_in_int16_unless_sums_may_exceed_32_bits(size):
    x = torch.randn(1, 5, size)

    def compiled():
        return compile_model(
            nn.GRU(size, 2, batch_first=True), (x,), "cortex-m4", [(x,)], quantizer=quantizer(), io=INT16
        )

    if size > 512:
        with pytest.raises(UserError, match=r"input input_1 cannot become int16: it is quantized to int8"):
            compiled()
    else:
        (layer,) = [node for node in compiled().graph.nodes if node.op == "gru"]
        assert [value.element.value for value in layer.inputs] == ["int16", "int16", "int8", "int8", "int32", "int32"]


def test_zero_points_of_int16_are_named():
    x = torch.randn(1, 9)
    program = exported(nn.Linear(9, 4), x, quantizer=quantizer())
    for node in program.graph.nodes:
        if "quantize_per_tensor" in str(node.target):
            node.args = (*node.args[:2], 7, *node.args[3:])
    (refused,) = [report for report in lower_program(program).reports if "addmm" in report.target]
    assert "and zero point 7; the kernels take" in refused.message
    assert "int16 in [-32768, 32767] with zero point 0" in refused.message
