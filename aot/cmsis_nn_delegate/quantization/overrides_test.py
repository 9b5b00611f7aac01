"""What overrides do to a model."""

import pytest
import torch
from torch import nn
from torchao.quantization.pt2e.quantize_pt2e import prepare_pt2e

from cmsis_nn_delegate.edge.naming import left_in_float
from cmsis_nn_delegate.edge.refusal import Reason
from cmsis_nn_delegate.quantization.configuration import SKIP, QuantizationConfig
from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.testing.lowering import exported, lower_program, quantized

Q = torch.ops.quantized_decomposed.quantize_per_tensor.default
DQ_CHANNEL = torch.ops.quantized_decomposed.dequantize_per_channel.default
X = torch.randn(1, 3, 8, 8, generator=torch.Generator().manual_seed(0))


class Network(nn.Module):
    def __init__(self):
        super().__init__()
        torch.manual_seed(0)
        self.features = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.ReLU(), nn.Hardswish())
        self.pool = nn.AvgPool2d(2)
        self.head = nn.Sequential(nn.Flatten(), nn.Linear(36, 8), nn.Softplus(), nn.Linear(8, 3), nn.Softmax(1))

    def forward(self, image):
        return self.head(self.pool(self.features(image)))


def converted(quantizer):
    return quantized(Network(), X, quantizer=quantizer)


def scales(model):
    """The parameters of the activations, by what computes them."""
    return {node.args[0].name: tuple(node.args[1:3]) for node in model.graph.nodes if node.target == Q}


def minmax():
    return CmsisNnQuantizer("minmax")


SKIPS = {
    "module": (minmax().set_module_name("head.2", None), {"softplus": "module_names: head.2"}),
    "inner before outer": (
        minmax().set_module_name("head.1", QuantizationConfig(skip=False)).set_module_name("head", SKIP),
        dict.fromkeys(["flatten", "softplus", "linear_1", "softmax"], "module_names: head"),
    ),
    "type": (
        minmax().set_module_type(nn.Linear, None),
        dict.fromkeys(["linear", "linear_1"], "module_types: torch.nn.modules.linear.Linear"),
    ),
    "function": (
        minmax().set_operator_type(torch.ops.aten.hardswish, None).set_operator_type("softmax", None),
        {"hardswish": "operator_types: aten.hardswish", "softmax": "operator_types: softmax"},
    ),
    "activation that would be fused": (
        minmax().set_module_name("features.2", None),
        {"relu": "module_names: features.2"},
    ),
    "all but one": (
        minmax().set_global(None).set_module_name("features.0", QuantizationConfig(skip=False)),
        dict.fromkeys(
            ["relu", "hardswish", "avg_pool2d", "flatten", "linear", "softplus", "linear_1", "softmax"], "everywhere"
        ),
    ),
}


LOWERED = ("function", "all but one")


@pytest.mark.parametrize("name", SKIPS)
def test_what_is_left_in_float_is_not_delegated_and_keeps_its_name(name):
    quantizer, left = SKIPS[name]
    program = exported(Network(), X, quantizer=quantizer)
    found = {node.name: where for node in program.graph.nodes if (where := left_in_float(node))}
    assert found == left
    with torch.no_grad():
        torch.testing.assert_close(program.module(check_guards=False)(X), Network().eval()(X), atol=0.02, rtol=0.1)
    if name not in LOWERED:
        return
    reports = [report for report in lower_program(program, prepared=True).reports if not report.is_border]
    asked = {report.function: report.message for report in reports if report.reason is Reason.LEFT_IN_FLOAT}
    assert asked.keys() == left.keys()
    for function, where in left.items():
        assert f"because you asked for that ({where})" in asked[function]
    # The others are delegated, unless they only move values between those.
    assert {report.reason for report in reports} <= {None, Reason.LEFT_IN_FLOAT, Reason.NOT_FUSABLE}


def test_a_recurrent_layer_in_float_is_not_unrolled():
    class Recurrent(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer, self.head = nn.GRU(4, 5, batch_first=True), nn.Linear(5, 2)

        def forward(self, x):
            return self.head(self.layer(x)[0])

    model = quantized(Recurrent(), torch.randn(1, 3, 4), quantizer=minmax().set_module_name("layer", None))
    assert [n.target for n in model.graph.nodes if "gru" in str(n.target)] == [torch.ops.aten.gru.input]


def test_settings_of_activations_and_weights():
    default = scales(converted(minmax()))
    quantizer = minmax().set_module_name("features", QuantizationConfig(activations="symmetric", weights="per-tensor"))
    model = converted(quantizer)
    changed = scales(model)
    assert changed["relu"][1] == changed["hardswish"][1] == 0 != default["relu"][1]
    assert {name: s for name, s in changed.items() if name in ("image", "linear", "softplus")} == {
        name: default[name] for name in ("image", "linear", "softplus")
    }
    weights = [n.args[0].target for n in model.graph.nodes if n.target == DQ_CHANNEL]
    assert len(weights) == 4  # and biases, of the linear layers
    # What computes the result is decided by the layer, or by the activation that is fused with it.
    last = converted(minmax().set_module_type(nn.ReLU, QuantizationConfig(activations="symmetric")))
    assert scales(last)["relu"] == changed["relu"]


def test_observers():
    model = Network()
    graph = torch.export.export(model.eval(), (X,)).module(check_guards=False)
    quantizer = minmax().set_module_name("head.1", QuantizationConfig(observer="moving-average"))
    prepared = prepare_pt2e(graph, quantizer.set_operator_type("softplus", QuantizationConfig(observer="histogram")))
    (linear,) = (node for node in prepared.graph.nodes if node.name == "linear")
    (softplus,) = (node for node in prepared.graph.nodes if node.name == "softplus")
    kinds = [type(prepared.get_submodule(next(iter(node.users)).target)).__name__ for node in (linear, softplus)]
    assert kinds == ["MovingAverageMinMaxObserver", "FastHistogramObserver"]


def test_ranges_are_those_of_all_that_share_a_scale():
    changed = scales(converted(minmax().set_range("image", 0, 255).set_range("pool", -3, 3).set_range("head.2", 0, 51)))
    assert changed["hardswish"] == changed["avg_pool2d"]
    found = {name: changed[name] for name in ("image", "avg_pool2d", "softplus")}
    wanted = {"image": (1.0, -128), "avg_pool2d": (6 / 255, 0), "softplus": (0.2, -128)}
    assert found == {name: (pytest.approx(scale), zero_point) for name, (scale, zero_point) in wanted.items()}


MISTAKES = {
    "module_names: nothing in the model is 'haed'.*did you mean 'head'": lambda q: q.set_module_name("haed", None),
    "module_names: nothing in the model is 'features.1', or it computes nothing of its own": lambda q: (
        q.set_module_name("features.1", None)
    ),
    "module_types: nothing in the model is 'Linaer'.*'Linear'": lambda q: q.set_module_type("Linaer", None),
    "operator_types: nothing in the model is 'softmx'.*'softmax'": lambda q: q.set_operator_type("softmx", None),
    "ranges: no input or module is 'imag'; did you mean 'image'": lambda q: q.set_range("imag", 0, 1),
    r"ranges: 'features.0' is no tensor of its own, because relu in features.2": lambda q: q.set_range(
        "features.0", 0, 1
    ),
    "ranges: the scale of 'head' is fixed already": lambda q: q.set_range("head", 0, 1),
    "ranges: the scale of 'pool' is fixed already": lambda q: q.set_range("features", -1, 3).set_range("pool", -1, 2),
    "ranges: 'head.4' stays in float, and so does all": lambda q: q.set_range("head.4", 0, 1).set_module_name(
        "head.4", None
    ),
}


@pytest.mark.parametrize("message", MISTAKES)
def test_overrides_that_apply_to_nothing_are_refused(message):
    with pytest.raises(UserError, match=message):
        converted(MISTAKES[message](minmax()))
