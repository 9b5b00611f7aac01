"""Quantization-aware training with CmsisNnQuantizer: everything is folded and delegated, and the numbers are
those that the model was trained with."""

import copy

import numpy as np
import pytest
import torch
from torch import nn
from torchao.quantization.pt2e import move_exported_model_to_eval, move_exported_model_to_train
from torchao.quantization.pt2e.fake_quantize import FakeQuantize
from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_qat_pt2e

from cmsis_nn_delegate import quantizable_module, reference
from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.graph.tensor_type import Element
from cmsis_nn_delegate.quantization.configuration import Configuration, QuantizationConfig
from cmsis_nn_delegate.quantization.convert import convert_trained
from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer
from cmsis_nn_delegate.quantization.specs import Specs
from cmsis_nn_delegate.runner.host import HostProgram
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.testing.lowering import lower_program

LIBRARY = "runtime/libcmsis_nn_delegate.so"
SHAPE = (4, 3, 8, 8)


def layer(inputs, outputs, kernel, activation, groups=1, bias=False):
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, padding=kernel // 2, groups=groups, bias=bias),
        nn.BatchNorm2d(outputs),
        *activation,
    )


class Network(nn.Module):
    """All kinds of convolutions with a batch norm, a residual connection and a classifier."""

    def __init__(self, bias, inplace):
        super().__init__()
        torch.manual_seed(0)
        self.stem = layer(3, 8, 3, [nn.ReLU(inplace)], bias=bias)
        self.depthwise = layer(8, 8, 3, [nn.ReLU6(inplace)], groups=8, bias=bias)
        self.pointwise = layer(8, 8, 1, [], bias=bias)
        self.up = nn.Sequential(nn.ConvTranspose2d(8, 6, 2, 2, bias=bias), nn.BatchNorm2d(6), nn.ReLU(inplace))
        self.activation = nn.ReLU(inplace)
        self.dropout = nn.Dropout(0.1)
        self.classifier = nn.Linear(6, 5)

    def forward(self, x):
        y = self.stem(x)
        y = self.activation(y + self.pointwise(self.depthwise(y)))
        return self.classifier(self.dropout(self.up(y).mean((2, 3))))


def trained(module, quantizer, steps=4):
    """`module` after some steps of training, with observers or fake quantization, in eval mode, and an input."""
    x = torch.randn(SHAPE, generator=torch.Generator().manual_seed(1))
    graph = quantizable_module(torch.export.export(module.train(), (x,)))
    prepared = prepare_qat_pt2e(graph, quantizer)
    optimizer = torch.optim.SGD(prepared.parameters(), lr=0.05)
    for step in range(steps):
        batch = torch.randn(SHAPE, generator=torch.Generator().manual_seed(step))
        move_exported_model_to_train(prepared)
        loss = (prepared(batch) - 1.0).square().mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    move_exported_model_to_eval(prepared)
    with torch.no_grad():
        prepared(x)  # the ranges of the last weights
    for name, buffer in prepared.named_buffers():
        if name.endswith("observer_enabled"):
            buffer.zero_()
    return prepared, x


def check_numbers(model, x, wanted, steps, few=1.0):
    """Checks what a delegate computes: elements are at most `steps` from `wanted`, and no more than a share of `few` is
    not the same."""
    lowered = lower_program(torch.export.export(model, (x,)))
    assert [str(report) for report in lowered.reports if not report.delegated] == []
    graph = lowered.graph()
    results = reference.run(graph, [x.numpy()])
    for index, want in zip(lowered.output_indices, wanted):
        step = next(node for node in graph.nodes if graph.outputs[index] in node.outputs).inputs[0].quant.scale[0]
        apart = np.abs(results[index] - want.numpy()) / step
        assert (apart > 0.5).mean() <= few
        assert apart.max() <= steps


@pytest.mark.parametrize("bias, inplace, qat", [(False, True, True), (True, False, False)])
def test_a_trained_model_is_one_delegate_call_with_the_numbers_of_training(bias, inplace, qat):
    """With fake quantization; with observers alone the numbers are those of the float model."""
    prepared, x = trained(Network(bias, inplace), CmsisNnQuantizer("minmax", qat=qat))
    with torch.no_grad():
        wanted = prepared(x)
    by_torchao = copy.deepcopy(prepared) if qat else None
    model = convert_trained(prepared)
    check_numbers(model, x, [wanted], 2.01 if qat else 12)
    if by_torchao is not None:  # it compiles patterns, which takes 20 seconds
        assert torch.equal(convert_pt2e(by_torchao)(x), model(x))


def test_training_in_int16():
    """Kernels compute in the format that was trained, and the numbers are those of training."""
    prepared, x = trained(Network(bias=False, inplace=True), CmsisNnQuantizer(preset="int16", qat=True))
    with torch.no_grad():
        wanted = prepared(x)
    model = convert_trained(prepared)
    check_numbers(model, x, [wanted], 1.01)
    graph = lower_program(torch.export.export(model, (x,))).graph()
    assert {node.output.element for node in graph.nodes[:-1]} == {Element.INT16}


class Rows(nn.Module):
    """Linear layers, the second of which becomes a convolution with the batch norm after it."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.first, self.second, self.third = nn.Linear(192, 32), nn.Linear(32, 32), nn.Linear(32, 10)
        self.norm = nn.BatchNorm1d(32)
        with torch.no_grad():
            self.first.weight[:, ::37] *= 12

    def forward(self, x):
        return self.third(torch.relu(self.norm(self.second(torch.relu(self.first(x.flatten(1)))))))


def test_training_with_scales_for_groups_of_inputs():
    """Weights are trained as they will be rounded, and the numbers are those of training."""
    config = QuantizationConfig(weights="int4", group=16)
    prepared, x = trained(Rows(), CmsisNnQuantizer(qat=True).set_global(config))
    with torch.no_grad():
        wanted = prepared(x)
    model = convert_trained(prepared)
    check_numbers(model, x, [wanted], 1.01)
    graph = lower_program(torch.export.export(model, (x,))).graph()
    layers = [node.op for node in graph.nodes[1:-1]]
    assert layers == ["fully_connected_groups", "conv2d", "fully_connected_groups"]


# A module that is trained, its configuration, and of the nodes between the borders of the payload: operators, and
# elements of results and of weights, if these have others than int8.
FORMATS = {
    "symmetric": (
        Network(bias=False, inplace=True),
        Configuration("symmetric"),
        "conv2d depthwise_conv2d conv2d add transpose_conv2d avg_pool2d fully_connected",
    ),
    "fast-linear": (Rows(), Configuration("fast-linear"), "fully_connected conv2d fully_connected"),
    "by module": (
        Network(bias=True, inplace=False),
        Configuration(
            module_names={
                "stem": QuantizationConfig(format="int16"),
                "depthwise": QuantizationConfig(activations="symmetric"),
                "pointwise": QuantizationConfig(weights="int4"),
            }
        ),
        "conv2d/int16 rescale depthwise_conv2d conv2d/int4 add transpose_conv2d avg_pool2d fully_connected",
    ),
    "float32": (
        Network(bias=True, inplace=True),
        Configuration("int8", module_names={"depthwise": QuantizationConfig(format="float32")}),
        "conv2d dequantize/float32 conv2d_float32/float32/float32 function_float32/float32 quantize conv2d add conv2d "
        "strided_copy avg_pool2d fully_connected",
    ),
}


def described(node):
    """The operator of `node`, with the elements of its result and its weights if they are not int8."""
    values = [node.output, *(value for value in node.inputs[1:2] if value.is_constant)]
    return "/".join([node.op, *(value.element.value for value in values if value.element is not Element.INT8)])


@pytest.mark.parametrize("name", FORMATS)
def test_a_trained_model_in_formats(name):
    """It is one delegate call, whose kernels compute the reference's bytes on the host, and those are at most a step
    away from the numbers of training. Calibrated models have the same formats in tests of their own; training has
    other observers, and folds batch norms by itself, also those of layers that stay in float."""
    module, configuration, operators = FORMATS[name]
    prepared, x = trained(module, CmsisNnQuantizer.of(configuration, qat=True))
    with torch.no_grad():
        wanted = prepared(x).numpy()
    program = torch.export.export(convert_trained(prepared), (x,))
    compiled = compile_model(program, (x,), "cortex-m4", strict=True)
    graph = compiled.graph
    assert " ".join(map(described, graph.nodes[1:-1])) == operators
    (found,) = HostProgram(compiled.pte, LIBRARY).run([x.numpy()])
    assert found.tobytes() == reference.run(graph, [x.numpy()])[0].tobytes()
    (step,) = graph.nodes[-1].inputs[0].quant.scale
    assert np.abs(found - wanted).max() <= 1.01 * step
    quantized = [node.output for node in graph.nodes if node.output.element is Element.INT8]
    weights = {node.op: node.inputs[1].quant.scale for node in graph.nodes if node.op in ("conv2d", "fully_connected")}
    assert (name == "symmetric") == all(value.zero_point == 0 for value in quantized)
    assert (name == "fast-linear") == (len(set(weights["fully_connected"])) == 1)
    assert len(set(weights["conv2d"])) > 1


def test_gradients_of_weights_in_groups_are_those_of_rows():
    """Of which each has the inputs of a group: they are rounded and clipped alike."""
    weight = torch.randn(5, 16, generator=torch.Generator().manual_seed(2))
    weight[2], weight[3, 4] = 0.0, 30.0
    factors = torch.arange(1.0, 81.0).reshape(5, 16)
    specs, found = Specs(qat=True), []
    for spec, group in ((specs.in_groups(4), None), (specs.small, 4)):
        module = spec.observer_or_fake_quant_ctr(
            dtype=spec.dtype, quant_min=spec.quant_min, quant_max=spec.quant_max, qscheme=spec.qscheme
        )
        trained = weight.clone().requires_grad_()
        result = module(trained if group is None else trained.reshape(-1, group)).reshape(weight.shape)
        (result * factors).sum().backward()
        found.append((result.detach(), trained.grad))
    for got, want in zip(*found):
        torch.testing.assert_close(got, want)
    assert (found[0][1] == 0).any() and not torch.equal(found[0][0], weight)


class AllNorms(nn.Module):
    """Batch norms where people have them, each in a branch of its own."""

    def __init__(self):
        super().__init__()
        torch.manual_seed(0)

        def norm(channels, **options):
            made = nn.BatchNorm2d(channels, **options)
            made.running_mean.uniform_(-0.5, 0.5)
            made.running_var.uniform_(0.5, 1.5)
            return made

        self.first = nn.Sequential(norm(3), nn.Conv2d(3, 4, 3))
        self.after_activation = nn.Sequential(nn.Conv2d(3, 4, 3), nn.ReLU(), norm(4), nn.Conv2d(4, 2, 1))
        self.eps = nn.Sequential(nn.Conv2d(3, 4, 3), norm(4, eps=1e-3, momentum=0.01), norm(4, eps=0.5))
        self.plain = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4, affine=False), nn.ReLU6())
        self.rows = nn.Sequential(nn.Flatten(), nn.Linear(192, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.BatchNorm1d(8))
        self.groups = nn.Sequential(
            nn.Conv2d(3, 4, 3), nn.ConvTranspose2d(4, 6, 2, 2, groups=2), norm(6), nn.ConvTranspose2d(6, 2, 2), norm(2)
        )
        self.sequence = nn.Sequential(nn.Conv1d(3, 4, 3), nn.BatchNorm1d(4), nn.ReLU(), nn.BatchNorm1d(4))
        self.shared, self.a, self.b = nn.Conv2d(3, 3, 1), norm(3), norm(3)
        self.read = nn.Conv2d(3, 3, 1)

    def forward(self, x):
        read = self.read(x)
        return (
            *(
                branch(x)
                for branch in (self.first, self.after_activation, self.eps, self.plain, self.rows, self.groups)
            ),
            self.sequence(x.flatten(2)),
            self.a(self.shared(x)) + self.b(self.shared(-x)),
            self.a(read) + read,
        )


def test_every_batch_norm_is_folded():
    module = AllNorms()
    x = torch.randn(SHAPE, generator=torch.Generator().manual_seed(1))
    with torch.no_grad():
        before = copy.deepcopy(module).eval()(x)
    graph = quantizable_module(torch.export.export(module.train(), (x,)))
    prepared = prepare_qat_pt2e(graph, CmsisNnQuantizer(qat=True))
    move_exported_model_to_eval(prepared)
    for fake_quantize in prepared.modules():
        if isinstance(fake_quantize, FakeQuantize):
            fake_quantize.disable_fake_quant()
    with torch.no_grad():
        for got, want in zip(prepared(x), before):
            torch.testing.assert_close(got, want, atol=1e-4, rtol=1e-4)
    for fake_quantize in prepared.modules():
        if isinstance(fake_quantize, FakeQuantize):
            fake_quantize.enable_fake_quant()
    move_exported_model_to_train(prepared)
    sum(result.square().mean() for result in prepared(x)).backward()
    torch.optim.SGD(prepared.parameters(), lr=0.05).step()
    assert all(parameter.grad is not None for parameter in prepared.parameters() if parameter.requires_grad)
    move_exported_model_to_eval(prepared)
    with torch.no_grad():
        wanted = prepared(x)
    model = convert_trained(prepared)
    assert not [node for node in model.graph.nodes if "batch_norm" in str(node.target)]
    # One step of an operand of the sums is several of theirs.
    check_numbers(model, x, wanted, 6, few=0.05)


def test_conversion_in_training_mode_is_refused():
    module = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4))
    graph = quantizable_module(torch.export.export(module.train(), (torch.randn(SHAPE),)))
    with pytest.raises(UserError, match=r"batch_norm.* in 1 \(BatchNorm2d\) is in training mode: call .*_to_eval"):
        convert_trained(prepare_qat_pt2e(graph, CmsisNnQuantizer(qat=True)))
