"""What users are told: each function by its own name, what ExecuTorch cannot run, and no work for nothing."""

import re

import pytest
import torch
from torch import nn
from torch.nn import functional as F

from cmsis_nn_delegate.compile import compile_model
from cmsis_nn_delegate.edge.refusal import Reason
from cmsis_nn_delegate.partition import portable
from cmsis_nn_delegate.quantization import recurrent
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.testing.lowering import Function, in_float, lowered


def compiled(module, *inputs, calibration=None, **options):
    data = [inputs] if calibration is None else calibration
    return compile_model(module, inputs, "cortex-m55", data, observer="minmax", **options)


class Remembering(nn.Module):
    """Its last result, which it reads again, and the number of its calls."""

    def __init__(self):
        super().__init__()
        self.layer, self.places = nn.Linear(12, 4), nn.Embedding(5, 4)
        self.register_buffer("last", torch.zeros(1, 4))
        self.register_buffer("count", torch.zeros(1, dtype=torch.int64))

    def forward(self, x):
        y = torch.tanh(self.layer(torch.cat([x, self.last], -1)))
        self.last.copy_(y)
        place = self.places(self.count % 5)
        self.count.add_(1)
        return y + place


def test_states_that_stay_outside_are_named():
    found = compiled(Remembering(), torch.randn(1, 8), check=False).refused
    messages = {report.target: report.message for report in found}
    assert "it reads the state 'last', which stays in float" in messages["aten.cat.default"]
    assert "8 bits" not in messages["aten.cat.default"]  # as it stays in float whatever the format
    assert "computed of the state 'count'" in messages["aten.remainder.Scalar"]
    assert ".float()" not in messages["aten.remainder.Scalar"]


class First(nn.Module):
    """The first of several results."""

    def __init__(self, module):
        super().__init__()
        self.inner = module

    def forward(self, x):
        return self.inner(x)[0]


class Repeated(First):
    """A layer of a sequence that is repeated to more steps than `MAX_STEPS` in `chain`, from beyond 1."""

    def forward(self, x):
        return self.inner(x.repeat(3, 1, 1), torch.full((1, 4, 3), 1.5))[0]


# Functions that are decomposed and have no kernel: what they are called in messages. All read (1, 4, 6).
FUNCTIONS = {
    Repeated(nn.GRU(6, 3)): "aten.gru.input",
    # One node each after decomposition, too.
}
# Functions that are decomposed unless the delegate takes them: it does not take tensors of rank 7.
RANK_7 = {
    nn.Hardsigmoid(): "aten.hardsigmoid.default",
    nn.Hardswish(): "aten.hardswish.default",
    nn.Hardswish(inplace=True): "aten.hardswish",
    nn.SiLU(): "aten.silu.default",
    nn.Mish(): "aten.mish.default",
    nn.Softplus(): "aten.softplus.default",
    nn.SELU(): "aten.elu.default",  # PyTorch's own decomposition, before ExecuTorch's
    nn.CELU(): "aten.celu.default",
    nn.LogSigmoid(): "aten.log_sigmoid.default",
    nn.PReLU(): "aten.prelu.default",
    nn.Hardshrink(): "aten.hardshrink.default",
    nn.Softshrink(): "aten.softshrink.default",
    nn.GELU(): "aten.gelu.default",
    nn.ELU(): "aten.elu.default",
}


class Chain(nn.Module):
    """All functions, each after a linear layer of its own."""

    def __init__(self):
        super().__init__()
        count = len(FUNCTIONS) + len(RANK_7)
        self.front = nn.ModuleList(nn.Linear(6, 6) for _ in range(count))
        self.functions = nn.ModuleList([*FUNCTIONS, *RANK_7])

    def forward(self, x):
        shapes = [(1, 4, 6)] * len(FUNCTIONS) + [(1, 1, 1, 1, 1, 4, 6)] * len(RANK_7)
        return [function(layer(x).reshape(shape)) for layer, function, shape in zip(self.front, self.functions, shapes)]


@pytest.fixture(scope="module")
def chain():
    """A layer that stays whole is decomposed at last, for ExecuTorch, into a dozen operators a step: that takes half
    a minute with as many steps as the real limit needs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(recurrent, "MAX_STEPS", 2)
        return compiled(Chain(), torch.randn(1, 4, 6))


NAMES = [*FUNCTIONS.values(), *RANK_7.values()]


@pytest.mark.parametrize("index", range(len(NAMES)), ids=NAMES)
def test_decomposed_functions_are_refused_once_by_name(chain, index):
    found = [r for r in chain.refused if re.match(rf"functions\.{index}\b", r.module)]
    found = [r for r in found if not r.target.startswith("aten.repeat")]  # of what is too long
    found = [r for r in found if not r.is_border]
    assert len(found) == 1, "\n".join(map(str, found))
    (report,) = found
    assert report.target.startswith(NAMES[index])
    if index < len(FUNCTIONS):
        assert report.reason is Reason.UNSUPPORTED_OPERATOR
        assert f"no kernel for {report.target}" in report.message


def test_a_layer_that_was_decomposed_is_refused_with_its_own_reason():
    """Of what it is decomposed into, an initial state is a constant."""
    found = compiled(First(nn.GRU(6, 3)), torch.randn(3, 1, 6), providers=["cmsis-nn"])
    (report,) = [report for report in found.refused if "gru" in report.target]
    assert "no kernel for gru in cmsis-nn" in report.message


def test_a_function_that_has_a_kernel_is_refused_with_its_own_reason():
    """prelu becomes gt, mul and where, of which gt has no kernel."""

    class Slopes(nn.Module):
        def forward(self, x, slopes):
            return nn.functional.prelu(x * 0.5, slopes)

    result = compiled(Slopes(), torch.randn(2, 3), torch.rand(3))
    (found,) = [report for report in result.refused if report.target == "aten.prelu.default"]
    assert found.reason is Reason.NOT_CONSTANT and "its slopes are not constant" in found.message


def test_functions_of_two_numbers_are_refused_with_advice():
    class Special(nn.Module):
        def forward(self, x):
            special = torch.special
            return special.zeta(x * 2, x), special.hermite_polynomial_h(x * 3, x), special.zeta(x * 4, 2.0)

    found = [report for report in compiled(Special(), torch.rand(2, 3) + 1).refused if "special" in report.target]
    assert [report.target.split(".")[1] for report in found] == [
        "special_zeta", "special_hermite_polynomial_h", "special_zeta",
    ]  # fmt: skip
    for report in found:
        assert f"no kernel for {report.target}" in report.message and "compute it in the application" in report.message


def test_a_function_whose_parts_have_kernels_is_not_said_to_lack_one():
    """stack becomes unsqueeze and cat, which alone are no work for a delegate."""

    class Stack(nn.Module):
        def forward(self, x, y):
            return torch.stack([x, y])

    result = compiled(Stack(), torch.randn(2, 3), torch.randn(2, 3))
    found = [report for report in result.refused if report.target == "aten.stack.default"]
    assert len(found) == 1 and found[0].reason is Reason.NOT_FUSABLE
    assert "no work for the delegate: all that the model does" in found[0].message


def test_what_is_not_delegated_still_runs(chain):
    """Nothing is kept whole that has no kernel, and nobody is told to do what was done."""
    assert chain.warnings == ()
    messages = [report.message for report in chain.refused]
    assert not [m for m in messages if "CmsisNnQuantizer" in m or ".float()" in m]


def test_float_model_is_told_to_be_quantized():
    from cmsis_nn_delegate.testing.lowering import lower_program

    result = lower_program(torch.export.export(nn.Conv2d(1, 1, 1), (torch.randn(1, 1, 2, 2),)))
    assert ["CmsisNnQuantizer" in report.message for report in result.reports] == [True]


# What ExecuTorch cannot run -------------------------------------------------


def test_portable_kernels():
    aten = torch.ops.aten
    known = aten.atan2.default, aten.view_copy.default, aten.max.dim, aten.convolution.default, aten.pow.Tensor_Scalar
    for target in known:
        assert portable.missing_kernel(target) == ""
    assert portable.missing_kernel(aten.logcumsumexp.default) == "aten::logcumsumexp.out"
    assert portable.missing_kernel(aten.hardswish.default) == "aten::hardswish.out"
    assert portable.without_kernel(["aten::add.out", "executorch_prim::add.Scalar", "my::op.out"]) == ["my::op.out"]


def test_kernels_are_those_that_the_runtime_registers():
    from executorch.extension.pybindings import portable_lib

    registered = {name for name in portable_lib._get_operator_names() if name.startswith("aten::")}
    listed = {name for name in portable.kernels() if name.startswith("aten::")}
    assert len(listed - registered) <= 2  # allclose, which is only for tests
    assert len(listed) > 190


def test_programs_that_cannot_be_loaded_are_warned_of():
    layer, lines = nn.Linear(4, 4), []
    module = Function(lambda x: in_float(torch.logcumsumexp(layer(x), 1)), layer=layer)
    result = compiled(module, torch.randn(2, 4), progress=lines.append)
    (warning,) = result.warnings
    assert "aten.logcumsumexp.default" in warning and "aten::logcumsumexp.out" in warning
    assert f"warning: {warning}" in lines
    messages = {report.target: report.message for report in result.refused}
    assert "cannot be loaded" in messages["aten.logcumsumexp.default"]
    assert "runs in float" not in messages["aten.logcumsumexp.default"]
    assert "runs in float" in messages["aten.atan2.default"]
    with pytest.raises(UserError, match="logcumsumexp.*cannot be loaded"):
        compiled(module, torch.randn(2, 4), strict=True)


# No work for nothing --------------------------------------------------------


def test_relus_between_layers_that_stay_in_float_stay_in_float():
    result = lowered(Function(lambda x: F.relu(in_float(F.relu(in_float(x))))), torch.randn(1, 2, 9))
    assert not result.delegates and not any("quantize" in name for name in result.outside)
    assert not any(report.delegated for report in result.reports)
    for report in result.reports:
        if report.target == "aten.relu.default":
            assert report.reason is Reason.NOT_FUSABLE and "no work left" in report.message
            assert re.search(r"such as \w*atan2\w* \(aten.atan2", report.message)


MOVES = {
    "relu": F.relu,
    "clamp": lambda x: x.clamp(-1, 1),
    "flatten": lambda x: x.flatten(1),
    "pad": lambda x: F.pad(x, (1, 1)),
    "all": lambda x: F.relu(F.pad(F.relu6(x), (0, 2))).unsqueeze(0),
}


@pytest.mark.parametrize("name", MOVES)
def test_what_moves_or_limits_values_is_not_worth_a_call(name):
    f = MOVES[name]
    # Between float operators, at the beginning and at the end.
    before = lambda x: f(in_float(x))  # noqa: E731
    after = lambda x: in_float(f(x))  # noqa: E731
    for module in (lambda x: in_float(before(x)), after, before):
        result = lowered(Function(module), torch.randn(1, 2, 4))
        assert not result.delegates and not any("quantize" in n for n in result.outside), result.outside


@pytest.mark.parametrize("name", ["relu", "flatten", "clamp"])
def test_beside_arithmetic_it_is_delegated(name):
    layer = nn.Linear(4, 4)
    f = MOVES[name]
    result = lowered(Function(lambda x: in_float(f(layer(in_float(x)))), layer=layer), torch.randn(1, 4, 4))
    assert len(result.delegates) == 1 and [n for n in result.outside if "atan2" in n] == result.outside


@pytest.mark.parametrize("name", ["relu", "clamp"])
def test_alone_it_is_the_whole_model(name):
    assert len(lowered(Function(MOVES[name]), torch.randn(1, 2, 4)).delegates) == 1


# int8 inputs and outputs ----------------------------------------------------


def untouched():
    raise AssertionError("calibration has begun")
    yield


@pytest.mark.parametrize(
    "function, pattern",
    [
        (
            lambda layer, x: layer(in_float(x)),
            r"input inputs_0 cannot .* read by atan2 \(aten.atan2",
        ),
        (
            lambda layer, x: in_float(layer(x)),
            r"output 0 .* cannot .* comes from atan2 \(aten.atan2",
        ),
        (lambda layer, x: (layer(x), x), "input inputs_0 cannot become int8: it is read by the model's output"),
        (lambda layer, x: (layer(x), layer.weight), "output 1 .* cannot become int8"),
        (lambda layer, x: layer(x) + in_float(x), "input inputs_0 cannot become int8: .*atan2"),
    ],
)
def test_quantized_io_is_refused_before_calibration(function, pattern):
    layer = nn.Linear(4, 4)
    with pytest.raises(UserError, match=pattern):
        compiled(
            Function(lambda x: function(layer, x), layer=layer), torch.randn(2, 4), io="int8", calibration=untouched()
        )


def test_unused_inputs_cannot_be_int8():
    layer = nn.Linear(4, 4)
    with pytest.raises(UserError, match="input inputs_1 cannot become int8: nothing reads it"):
        module = Function(lambda x, y: layer(x), layer=layer)
        compiled(module, torch.randn(2, 4), torch.randn(2, 4), io="int8", calibration=untouched())
