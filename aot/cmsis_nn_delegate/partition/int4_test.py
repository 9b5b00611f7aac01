"""Weights of 4 bits: which layers have them, what becomes of those without a kernel, and models quantized elsewhere."""

from __future__ import annotations

import copy

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
from cmsis_nn_delegate.testing.lowering import lower_program, steps_apart

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


class InGroups(nn.Module):
    """A linear layer whose weight has a scale for each 32 inputs, dequantized as other tools do."""

    def __init__(self):
        super().__init__()
        self.register_buffer("steps", torch.randint(-8, 8, (8, 64), dtype=torch.int8))
        self.register_buffer("scales", torch.rand(8, 2) + 0.1)
        self.register_buffer("zeros", torch.zeros(8, 2, dtype=torch.int8))

    def forward(self, x):
        weight = dequantize_affine(self.steps, (1, 32), self.scales, self.zeros, torch.int8, -8, 7)
        per_group = torch.ops.quantized_decomposed.dequantize_per_channel_group
        return nn.functional.linear(x, weight), nn.functional.linear(
            x, per_group(self.steps, self.scales, self.zeros, -8, 7, torch.int8, 32, torch.float32)
        )


def test_weights_in_groups_are_refused_or_quantized_again():
    x = torch.randn(2, 64)
    found = [report.message for report in lower_program(torch.export.export(InGroups().eval(), (x,))).reports]
    for name in ("dequantize_affine", "dequantize_per_channel_group"):
        assert any("no kernel for" in text and name in text and "again" in text for text in found), found
    distances, graph = steps_apart(InGroups().eval(), x, quantizer=CmsisNnQuantizer("minmax"))
    assert max(distances) <= 1 and weights(graph)["fully_connected"] == ["int8", "int8"]


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
