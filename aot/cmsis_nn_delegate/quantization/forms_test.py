"""Functions of one number are quantized in each form in which PyTorch has them: as functions, as methods that write in
place, under all their names, behind what is quantized and behind what stays in float."""

import operator

import pytest
import torch
from torch import nn
from torch.nn import functional as F
from torchao.quantization.pt2e.quantize_pt2e import prepare_pt2e
from torchao.quantization.pt2e.quantizer.quantizer import Q_ANNOTATION_KEY

from cmsis_nn_delegate.ops.function_table import FUNCTIONS
from cmsis_nn_delegate.ops.registry import OPS
from cmsis_nn_delegate.quantization.prepare import quantizable_module
from cmsis_nn_delegate.quantization.quantizer import CmsisNnQuantizer
from cmsis_nn_delegate.testing.faster_torch import make_torch_faster

make_torch_faster()


def from_table():
    """Every target of the tables, and its form in place, with arguments by their types."""
    targets = [target for function in FUNCTIONS.values() for target in function.overloads]
    for target in [*targets, *OPS["clamp"].annotation.targets]:
        packet, overload = target.removeprefix("aten.").split(".")
        for name in (packet, f"{packet}_"):
            if target == "aten.pow.Scalar":  # the number is the first argument
                yield name, (lambda y: torch.pow(2.0, y)) if name == packet else (lambda y: y.pow_(2.0))
                continue
            found = getattr(getattr(torch.ops.aten, name, None), overload, None)
            if found is not None:
                yield str(found), lambda y, found=found: call(found, y)


def call(overload, y):
    first, *rest = overload._schema.arguments
    given, named = [y] if str(first.type) == "Tensor" else [2.0, y], {}
    for argument in rest[len(given) - 1 :]:
        if argument.name == "rounding_mode":
            named[argument.name] = "floor"
        elif argument.name == "decimals":
            named[argument.name] = 1
        elif argument.name == "weight":
            given.append(torch.tensor([0.25]))
        elif argument.name in ("min", "max"):
            given.append(-0.5 if argument.name == "min" else 0.5)
        elif not argument.has_default_value():
            given.append(torch.tensor(1.5) if str(argument.type) == "Tensor" else 1.5)
    return overload(*given, **named)


NAMES = (
    "absolute arccos arccosh arcsin arcsinh arctan arctanh fix negative special_erf special_erfc special_exp2 "
    "special_expit special_expm1 special_log1p special_sinc"
).split()
MODULES = [nn.ReLU, nn.ReLU6, nn.Hardtanh, nn.Hardswish, nn.Hardsigmoid, nn.SiLU, nn.ELU, nn.CELU, nn.SELU, nn.Mish]
FORMS = {
    **dict(from_table()),
    **{name: lambda y, name=name: getattr(torch.ops.aten, name)(y) for name in NAMES},
    **{f"{name}_": lambda y, name=name: getattr(y, f"{name}_")() for name in NAMES if "special" not in name},
    **{f"{kind.__name__}({inplace})": kind(inplace=inplace) for kind in MODULES for inplace in (False, True)},
    "GELU": nn.GELU("tanh"),
    "Softsign": nn.Softsign(),
    "LogSigmoid": nn.LogSigmoid(),
    "threshold_": lambda y: F.threshold(y, 0.1, 0.0, inplace=True),
    "multiply": lambda y: torch.multiply(y, y.sin()),
    "multiply_": lambda y: y.multiply_(2.0),
    "subtract": lambda y: torch.subtract(y, 1.0),
    "subtract_": lambda y: y.subtract_(y.sin()),
    "divide": lambda y: torch.divide(y, 3.0),
    "divide_": lambda y: y.divide_(3.0),
    "true_divide": lambda y: torch.true_divide(y, y.exp()),
    "clip": lambda y: torch.clip(y, -0.5, 0.5),
    "clip_": lambda y: y.clip_(-0.5, 0.5),
    "special_softmax": lambda y: torch.special.softmax(y, 1),
    **{f"i{name}": lambda y, name=name: getattr(operator, f"i{name}")(y, 2.0) for name in ("add", "sub", "mul", "pow")},
    **{f"i{name}": lambda y, name=name: getattr(operator, f"i{name}")(y, 2.0) for name in ("truediv", "mod")},
    "iadd of a tensor": lambda y: operator.iadd(y, y.sin()),
    "number first": lambda y: 1.0 - 2.0 / (y + 9.0),
}


# torchao compares every two annotations that share a node, here the convolutions: all forms in one program take twice
# as long as in four.
PARTS = 4


class Forms(nn.Module):
    """Forms side by side, each between convolutions or, if `in_float`, behind a sum that stays in float."""

    def __init__(self, forms, in_float):
        super().__init__()
        self.first, self.last = nn.Conv2d(2, 2, 1), nn.Conv2d(2, 2, 1)
        self.in_float = in_float
        self.forms = forms

    def forward(self, x):
        first = (lambda x: torch.atan2(x, x)) if self.in_float else self.first
        return tuple(self.last(form(first(x))) for form in self.forms)


@pytest.mark.parametrize("in_float", [False, True])
@pytest.mark.parametrize("part", range(PARTS))
def test_every_form_is_quantized(in_float, part):
    forms = list(FORMS.values())[part::PARTS]
    with torch.no_grad():
        program = torch.export.export(Forms(forms, in_float).eval(), (torch.rand(1, 2, 4, 4),))
    prepared = prepare_pt2e(quantizable_module(program), CmsisNnQuantizer("minmax"))
    calls = [node for node in prepared.graph.nodes if node.op == "call_function" and node.users]
    left = {str(node.target) for node in calls if Q_ANNOTATION_KEY not in node.meta and node.all_input_nodes}
    assert left == ({"aten.atan2.default"} if in_float else set())
    assert len(calls) > 2 * len(forms)
