"""Weights of 4 bits: which layers have them, what becomes of those without a kernel, and models quantized elsewhere."""

from __future__ import annotations

import copy
import re

import numpy as np
import pytest
import torch
from torch import nn
from torchao.quantization.pt2e import move_exported_model_to_eval
from torchao.quantization.pt2e.observer import PerChannelMinMaxObserver
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e, prepare_qat_pt2e
from torchao.quantization.quant_primitives import dequantize_affine

from cmsis_nn_delegate import CmsisNnQuantizer, QuantizationConfig, compile_model, quantizable_module
from cmsis_nn_delegate.graph.tensor_type import Element
from cmsis_nn_delegate.quantization.convert import convert_trained
from cmsis_nn_delegate.quantization.weight_observers import ClippingObserver
from cmsis_nn_delegate.reference import run
from cmsis_nn_delegate.testing.lowering import Function, lower_program, steps_apart

W4 = "w4"


class Network(nn.Module):
    """Layers of every kind with weights."""

    def __init__(self):
        super().__init__()
        self.stem = nn.Conv2d(3, 8, 3, padding=1)
        self.depthwise = nn.Conv2d(8, 8, 3, padding=1, groups=8)
        self.row = nn.Conv2d(8, 8, (1, 3), padding=(0, 1), groups=8)
        self.wide = nn.Conv2d(8, 8, 5, padding=2, groups=8)
        self.gaps = nn.Conv2d(8, 8, 3, padding=2, dilation=2, groups=8)
        self.grouped = nn.Conv2d(8, 8, 3, padding=1, groups=2)
        self.pointwise = nn.Conv2d(8, 15, 1)
        self.up = nn.ConvTranspose2d(15, 4, 2, 2)
        self.odd = nn.ConvTranspose2d(4, 4, 3, 2)
        self.head = nn.Linear(4, 5)

    def forward(self, x):
        x = torch.relu(self.gaps(self.wide(self.row(self.depthwise(torch.relu(self.stem(x)))))))
        return self.head(self.odd(self.up(self.pointwise(self.grouped(x)))).mean((2, 3)))


def weights(graph):
    """The type of the weights of each layer, by operator."""
    found = {}
    for node in graph.nodes:
        if len(node.inputs) == 3 and node.inputs[1].is_constant:
            found.setdefault(node.op, []).append(node.inputs[1].element.value)
    return found


def test_layers_with_a_kernel_have_4_bits_and_pytorch_computes_the_same():
    torch.manual_seed(0)
    x = torch.randn(2, 3, 6, 6)
    distances, graph = steps_apart(Network().eval(), x, quantizer=CmsisNnQuantizer(preset=W4))
    assert weights(graph) == {
        "conv2d": ["int4", "int8", "int4", "int4"],  # the last is `up`
        "depthwise_conv2d": ["int4", "int4", "int8", "int8"],
        "transpose_conv2d": ["int8"],
        "fully_connected": ["int4"],
    }
    assert distances[0] <= 1
    small = [node.inputs[1].constant for node in graph.nodes if len(node.inputs) == 3 and node.op == "fully_connected"]
    assert all(np.abs(w).max() == 7 for w in small)


def test_what_has_no_kernel_for_4_bits_is_named():
    x = torch.randn(1, 3, 6, 6)
    compiled = compile_model(Network().eval(), (x,), "cortex-m4", [(x,)], quantizer=CmsisNnQuantizer(preset=W4))
    (warning,) = [text for text in compiled.warnings if "weights of 8 bits" in text]
    assert all(f" in {name} (" in warning for name in ("wide", "gaps", "grouped", "odd"))
    assert not any(f" in {name} (" in warning for name in ("pointwise", "depthwise", "row", "up"))


def test_a_part_of_a_model_can_have_them():
    quantizer = CmsisNnQuantizer("minmax").set_module_name("pointwise", QuantizationConfig(weights="int4"))
    graph = steps_apart(Network().eval(), torch.randn(1, 3, 6, 6), quantizer=quantizer)[1]
    assert weights(graph)["conv2d"] == ["int8", "int8", "int4"] and weights(graph)["fully_connected"] == ["int8"]


def test_windows_of_fewer_taps_take_the_kernels_of_nine():
    """They take fewer bytes than those of 8 bits."""

    class Layer(nn.Sequential):
        def __init__(self):
            super().__init__(nn.Conv1d(16, 16, 3, stride=2, padding=1, groups=16), nn.ReLU())

    x = torch.randn(1, 16, 50)
    for core, kernel in (
        ("cortex-m0plus", "depthwise_conv2d_rows"),
        ("cortex-m4", "depthwise_conv2d_int4_planes"),
        ("cortex-m55", "depthwise_conv2d_int4_vectors"),
    ):
        small, wide = (
            compile_model(Layer().eval(), (x,), core, [(x,)], quantizer=CmsisNnQuantizer("minmax", preset=preset))
            for preset in (W4, "default")
        )
        assert kernel in {call.kernel for call in small.report.calls}, core
        if core != "cortex-m0plus":  # which has them in 8 bits
            assert len(small.payload) < len(wide.payload), core


def test_activations_of_16_bits_have_them_too():
    torch.manual_seed(4)
    quantizer = CmsisNnQuantizer(preset="int16").set_global(QuantizationConfig(weights="int4"))
    distances, graph = steps_apart(Network().eval(), torch.randn(2, 3, 6, 6), quantizer=quantizer)
    # Depthwise ones are a conv2d with groups in int16.
    assert weights(graph) == {
        "conv2d": ["int4", "int8", "int8", "int8", "int8", "int8", "int4", "int4"],
        "transpose_conv2d": ["int8"],
        "fully_connected": ["int4"],
    }
    # What has 8 bits was quantized to 8.
    assert not graph.notes
    assert distances[0] <= 1
    assert {node.output.element for node in graph.nodes[1:-1]} == {Element.INT16}


class Elsewhere(CmsisNnQuantizer):
    """Another tool's: weights from -8 to 7, by their largest, in int8."""

    def annotate(self, model):
        model = super().annotate(model)
        for node in model.graph.nodes:
            annotation = node.meta.get("quantization_annotation")
            for source, spec in (annotation.input_qspec_map if annotation else {}).items():
                if source.op == "get_attr" and getattr(spec, "ch_axis", None) == 0 and spec.dtype == torch.int8:
                    changed = copy.copy(spec)
                    object.__setattr__(changed, "quant_min", -8)
                    object.__setattr__(changed, "quant_max", 7)
                    object.__setattr__(
                        changed, "observer_or_fake_quant_ctr", PerChannelMinMaxObserver.with_args(eps=2**-20)
                    )
                    annotation.input_qspec_map[source] = changed
        return model


def test_models_that_were_quantized_elsewhere_are_taken_as_they_are():
    torch.manual_seed(1)
    x = torch.randn(1, 3, 6, 6)
    prepared = prepare_pt2e(quantizable_module(torch.export.export(Network().eval(), (x,))), Elsewhere("minmax"))
    prepared(x)
    converted = convert_pt2e(prepared)
    graph = lower_program(torch.export.export(converted, (x,))).graph()
    assert weights(graph)["conv2d"] == ["int4", "int8", "int4"] and weights(graph)["fully_connected"] == ["int4"]
    assert weights(graph)["depthwise_conv2d"] == ["int4"] * 4
    grouped = [node for node in graph.nodes if node.op == "conv2d"][1]
    assert grouped.inputs[1].element is Element.INT8 and np.abs(grouped.inputs[1].constant).max() <= 8
    assert sum("has no kernel for these" in note for note in graph.notes) == 1


Q = torch.ops.quantized_decomposed


def rounded(x, scale, zero_point, element=torch.int8):
    limits = (scale, zero_point, torch.iinfo(element).min, torch.iinfo(element).max, element)
    return Q.dequantize_per_tensor(Q.quantize_per_tensor(x, *limits), *limits)


class InGroups(nn.Module):
    """A linear layer of eight outputs whose weight has a scale for each group of inputs, dequantized as other tools do:
    form "groups", "blocks", or "matrix" for x @ weight; "outputs" has groups of these instead."""

    def __init__(self, inputs, group=32, form="blocks", spread=6.0, limits=(-8, 7), zero_point=0, **formats):
        super().__init__()
        self.block = {"matrix": (group, 1), "outputs": (1, 4)}.get(form, (1, group))
        shape = (8, inputs) if form in ("groups", "blocks") else (inputs, 8)
        groups = tuple(size // of for size, of in zip(shape, self.block))
        self.register_buffer("steps", torch.randint(limits[0], limits[1] + 1, shape, dtype=torch.int8))
        self.register_buffer("scales", 2.0 ** -(spread * torch.rand(*groups)))
        self.register_buffer("zeros", torch.full(groups, zero_point, dtype=torch.int8))
        self.register_buffer("bias", torch.randn(8))
        self.form, self.limits, self.formats = form, limits, {"output_scale": 0.3, "element": torch.int8, **formats}

    def weight(self):
        parameters = self.scales, self.zeros
        if self.form == "groups":
            last = torch.int8, self.block[1], torch.float32
            return Q.dequantize_per_channel_group(self.steps, *parameters, *self.limits, *last)
        return dequantize_affine(self.steps, self.block, *parameters, torch.int8, *self.limits)

    def forward(self, x):
        element, weight = self.formats["element"], self.weight()
        zero_points = (-30, 5) if element is torch.int8 else (0, 0)
        x = rounded(x, 0.02, zero_points[0], element)
        y = nn.functional.linear(x, weight, self.bias) if len(weight) == 8 else x @ weight
        return rounded(y, self.formats["output_scale"], zero_points[1], element)


@pytest.mark.parametrize("inputs, group, form, spread", [
    (64, 32, "blocks", 6.0),
    (64, 16, "matrix", 3.0),
    (96, 3, "groups", 12.0),  # scales of which some become next to nothing
    (4096, 128, "blocks", 2.0),  # more than 32 bits of sums
])  # fmt: skip
def test_weights_in_groups_are_taken_as_they_are(inputs, group, form, spread):
    torch.manual_seed(6)
    model = InGroups(inputs, group, form, spread, output_scale=0.02 * inputs**0.5).eval()
    x = torch.randn(3, 7, inputs)
    lowered = lower_program(torch.export.export(model, (x,)))
    graph = lowered.graph()
    (layer,) = [node for node in graph.nodes if node.op == "fully_connected_groups"]
    stored = model.steps.T if form == "matrix" else model.steps
    assert np.array_equal(layer.inputs[1].constant, stored) and layer.inputs[1].element is Element.INT4
    assert layer.inputs[2].constant.max() == 2**15 - 1
    steps = np.abs(run(graph, [x.numpy()])[0] - model(x).numpy()) / model.formats["output_scale"]
    # Next to the middle of two steps either may be right.
    assert steps.max() < 1.5 and (steps > 0.5).mean() < 0.02
    assert layer.attrs.narrowing > 0 if inputs > 4000 else layer.attrs.narrowing == 0


def test_weights_in_groups_of_float_layers_are_quantized_again():
    forms = [InGroups(64, form=form) for form in ("blocks", "groups")]
    model = Function(
        lambda x: tuple(nn.functional.linear(x, form.weight()) for form in forms), forms=nn.ModuleList(forms)
    )
    x = torch.randn(2, 64)
    found = [report.message for report in lower_program(torch.export.export(model.eval(), (x,))).reports]
    assert len(found) == 2 and all("is not quantized" in text and "CmsisNnQuantizer" in text for text in found), found
    distances, graph = steps_apart(model.eval(), x, quantizer=CmsisNnQuantizer("minmax"))
    assert max(distances) <= 1 and weights(graph)["fully_connected"] == ["int8", "int8"]


def test_equal_scales_of_groups_are_those_of_channels():
    for limits, element in (((-8, 7), "int4"), ((-128, 127), "int8")):
        model = InGroups(64, limits=limits, spread=0.0, output_scale=3.0)
        graph = lower_program(torch.export.export(model.eval(), (torch.randn(2, 64),))).graph()
        assert weights(graph)["fully_connected"] == [element]


@pytest.mark.parametrize("message, arguments", [
    ("limits of .-128, 127. and a scale for each 32 inputs.* or prepare the model with Cmsis", {"limits": (-128, 127)}),
    ("activations of int8 alone: give its module", {"element": torch.int16}),
    ("groups of outputs; the kernel takes groups of inputs", {"form": "outputs"}),
    ("zero points other than 0; the kernel for groups", {"zero_point": 1}),
    ("might change it by .* steps, more than 0.5: ", {"output_scale": 1e-5}),
])  # fmt: skip
def test_other_groups_are_refused(message, arguments):
    program = torch.export.export(InGroups(64, **arguments).eval(), (torch.randn(2, 64),))
    try:
        found = [report.message for report in lower_program(program).reports if not report.delegated]
    except ValueError as error:  # of data, which is not known before
        found = [str(error)]
    assert any(re.search(message, text) for text in found), found


class OutlierColumns(nn.Sequential):
    """A linear layer of which every 37th input has weights that are twelve times as large."""

    def __init__(self):
        super().__init__(nn.Linear(256, 32))
        with torch.no_grad():
            self[0].weight[:, ::37] *= 12


def test_groups_of_inputs_round_weights_better_and_the_kernel_computes_them():
    torch.manual_seed(0)
    model, x = OutlierColumns().eval(), torch.randn(64, 256)
    signal = {}  # above the noise, in dB
    for group in (0, 64, 32, 16, 24):  # the last does not divide the inputs
        quantizer = CmsisNnQuantizer("minmax", preset=W4).set_global(QuantizationConfig(group=group))
        distances, graph = steps_apart(model, x, quantizer=quantizer)
        assert distances[0] <= 1
        op = "fully_connected" if group in (0, 24) else "fully_connected_groups"
        assert [node.op for node in graph.nodes[1:-1]] == [op]
        with torch.no_grad():
            wanted = model(x).numpy()
        signal[group] = 10 * np.log10(np.square(wanted).sum() / np.square(run(graph, [x.numpy()])[0] - wanted).sum())
    # As docs/guides/quantization_and_accuracy.md says.
    assert signal == pytest.approx({0: 10.2, 64: 11.7, 32: 13.5, 16: 16.2, 24: 10.2}, abs=0.1)


def test_models_with_groups_compile_and_correct_their_biases():
    torch.manual_seed(0)
    model = nn.Sequential(OutlierColumns(), nn.ReLU(), nn.Linear(32, 5)).eval()
    samples = [(torch.rand(1, 256),) for _ in range(8)]
    quantizer = CmsisNnQuantizer(preset=W4).set_module_name("0", QuantizationConfig(group=32))
    kept = copy.deepcopy(model.state_dict())
    compiled = compile_model(model, samples[0], "cortex-m4", samples, quantizer=quantizer)
    assert [call.kernel for call in compiled.report.calls][1] == "fully_connected_int4_groups_pairs"
    assert not [text for text in compiled.warnings if "bits" in text]
    assert all(torch.equal(kept[name], value) for name, value in model.state_dict().items())


def test_training_sees_the_weights_of_4_bits():
    torch.manual_seed(2)
    x = torch.randn(4, 3, 6, 6)
    module = quantizable_module(torch.export.export(Network().train(), (x,)))
    prepared = prepare_qat_pt2e(module, CmsisNnQuantizer(preset=W4, qat=True))
    prepared(x).square().sum().backward()
    move_exported_model_to_eval(prepared)
    with torch.no_grad():
        wanted = prepared(x)
        converted = convert_trained(prepared)
        assert torch.allclose(converted(x), wanted, atol=2 * float(wanted.abs().max()) / 127)
    graph = lower_program(torch.export.export(converted, (x,))).graph()
    assert weights(graph)["conv2d"] == ["int4", "int8", "int4", "int4"]
    assert weights(graph)["fully_connected"] == ["int4"]


def test_scales_clip_where_that_rounds_better():
    generator = torch.Generator().manual_seed(3)
    rows = torch.randn(5, 400, generator=generator)
    rows[1] = torch.where(torch.rand(400, generator=generator) < 0.5, -0.7, 0.7)  # nothing to gain
    rows[2] = 0.0
    rows[3] *= 1e-3
    observer = ClippingObserver(
        dtype=torch.int8, qscheme=torch.per_channel_symmetric, quant_min=-7, quant_max=7, ch_axis=0, eps=2.0**-40
    )
    observer(rows * 3)  # what it saw before does not matter
    observer(rows)
    scale, zero_point = observer.calculate_qparams()
    largest = rows.abs().amax(1) / 7

    def error(scales):
        return (rows - (rows / scales[:, None]).round().clamp(-7, 7) * scales[:, None]).square().sum(1)

    assert not zero_point.any()
    assert (error(scale)[[0, 3, 4]] < 0.9 * error(largest)[[0, 3, 4]]).all()
    assert scale[1] == pytest.approx(0.1) and 0 < scale[2] <= 2.0**-20
    assert scale[3] == pytest.approx(scale[3].item()) and (scale[[0, 3, 4]] < 0.95 * largest[[0, 3, 4]]).all()
