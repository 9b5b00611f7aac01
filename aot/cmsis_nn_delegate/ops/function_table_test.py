"""Tables of functions, next to PyTorch's dequantize, function and quantize."""

import operator

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.graph.tensor_type import Element, Quant, TensorType
from cmsis_nn_delegate.ops.attrs import Clamp
from cmsis_nn_delegate.ops.function_table import BY_TARGET, FUNCTIONS, interpolated, knots, line, reals, table

STEPS = torch.arange(-128, 128, dtype=torch.int8)
X = "the activation"
NUMBERS = st.floats(-8, 8, width=32)
POSITIVE = st.floats(0.125, 8, width=32)
ZERO_POINTS = st.integers(-128, 127)
SCALES = st.floats(-9, 1).map(lambda exponent: 2.0**exponent)
# What stands beside the activation, `X`: strategies by target, without the "aten." of all.
ARGUMENTS = {
    "gelu.default": st.tuples(st.just(X), st.sampled_from(["none", "tanh"])),
    "elu.default": st.tuples(st.just(X), POSITIVE, POSITIVE, POSITIVE),
    "celu.default": st.tuples(st.just(X), POSITIVE),
    "softplus.default": st.tuples(st.just(X), POSITIVE, POSITIVE),
    "leaky_relu.default": st.tuples(st.just(X), NUMBERS),
    "prelu.default": st.tuples(st.just(X), NUMBERS),
    "threshold.default": st.tuples(st.just(X), NUMBERS, NUMBERS),
    "logit.default": st.tuples(st.just(X), st.one_of(st.none(), st.floats(0.0078125, 0.375, width=32))),
    "pow.Tensor_Scalar": st.tuples(st.just(X), st.sampled_from([-1, 0, 0.5, 1, 2, 3, 2.5])),
    "pow.Tensor_Tensor": st.tuples(st.just(X), st.sampled_from([-2.0, 0.5, 2.0])),
    "pow.Scalar": st.tuples(POSITIVE, st.just(X)),
    "div.Tensor_mode": st.tuples(st.just(X), POSITIVE, st.sampled_from(["floor", "trunc"])),
    **{
        f"{name}.{overload}": st.one_of(
            st.tuples(st.just(X), NUMBERS, NUMBERS),
            *([st.tuples(NUMBERS, st.just(X), NUMBERS)] if overload == "Tensor" else []),
        )
        for name in ("add", "sub", "rsub")
        for overload in ("Tensor", "Scalar")
    },
    **{
        f"{name}.{overload}": st.tuples(st.just(X), POSITIVE)
        for name in ("div", "remainder", "fmod")
        for overload in ("Tensor", "Scalar")
    },
    "floor_divide.default": st.tuples(st.just(X), POSITIVE),
    "mul.Tensor": st.permutations([X, 1.7]),
    "mul.Scalar": st.tuples(st.just(X), NUMBERS),
    **{f"{name}.default": st.permutations([X, 1.7]) for name in ("minimum", "maximum", "fmin", "fmax")},
    **{f"{name}.default": st.permutations([X, 1.7]) for name in ("logaddexp", "logaddexp2", "hypot", "atan2")},
    "hardshrink.default": st.tuples(st.just(X), POSITIVE),
    "softshrink.default": st.tuples(st.just(X), POSITIVE),
    "round.decimals": st.tuples(st.just(X), st.integers(-2, 3)),
    "special_round.default": st.tuples(st.just(X), st.integers(-2, 3)),
    "copysign.Scalar": st.tuples(st.just(X), NUMBERS),
    "copysign.Tensor": st.permutations([X, -1.7]),
    "xlogy.Tensor": st.permutations([X, 1.7]),
    "xlogy.Scalar_Self": st.tuples(st.sampled_from([0.0, 1.5]), st.just(X)),
    "xlogy.Scalar_Other": st.tuples(st.just(X), POSITIVE),
    "special_xlog1py.default": st.permutations([X, 1.7]),
    "special_xlog1py.self_scalar": st.tuples(st.sampled_from([0.0, 1.5]), st.just(X)),
    "special_xlog1py.other_scalar": st.tuples(st.just(X), POSITIVE),
    "heaviside.default": st.permutations([X, 0.5]),
}


def in_pytorch(target, arguments, quant):
    """float32 results for all int8 numbers."""
    overload = operator.attrgetter(target)(torch.ops)
    x = (STEPS.to(torch.float32) - quant.zero_point) * quant.scale[0]
    given, named = [], {}
    for declared, argument in zip(overload._schema.arguments, arguments):
        if argument == X:
            argument = x
        elif str(declared.type) == "Tensor":
            argument = torch.tensor([argument], dtype=torch.float32)
        if declared.kwarg_only:
            named[declared.name] = argument
        else:
            given.append(argument)
    return overload(*given, **named)


@pytest.mark.parametrize("target", sorted(BY_TARGET))
def test_tables_are_those_of_the_quantized_graph(target):
    name = BY_TARGET[target].name

    @settings(max_examples=12, deadline=None, derandomize=True)
    @given(ARGUMENTS.get(target.removeprefix("aten."), st.just((X,))), SCALES, ZERO_POINTS, ZERO_POINTS)
    def check(arguments, scale, zero_point, output_zero_point):
        quant = Quant((scale,), zero_point)
        position = arguments.index(X)
        wanted = in_pytorch(target, arguments, quant).numpy().astype(np.float64)
        finite = np.abs(wanted[np.isfinite(wanted)])
        if not len(finite):
            return
        step = float(np.float32(max(np.percentile(finite, 90) / 100, 2.0**-20)))
        output = TensorType(Element.INT8, (256,), quant=Quant((step,), output_zero_point))
        got = table(name, list(arguments), position, quant, output)
        known = ~np.isnan(wanted)
        np.testing.assert_array_equal(known, ~np.isnan(reals(name, list(arguments), position, quant)))
        result = torch.from_numpy(wanted[known]).float()
        quantized = (torch.round(result * (1.0 / step)) + output_zero_point).clamp(-128, 127).numpy()
        apart = np.abs(got[known].astype(int) - quantized)
        # Only where the float32 error of PyTorch decides: its result lies next to the middle between two steps.
        steps = wanted[known] / step
        # An error relative to the number itself is many steps where gelu, for example, is nearly 0.
        cancelled = 2.0**-23 * np.abs(quant.scale[0] * (STEPS.numpy() - float(zero_point)))[known] / step
        undecided = np.abs(np.abs(steps - np.floor(steps)) - 0.5) < 1e-3 + np.abs(steps) * 1e-4 + cancelled
        assert not apart[~undecided].any()
        assert not apart[undecided].size or apart[undecided].max() <= 1

    check()


@pytest.mark.parametrize("scale", [0.05, 0.1, 0.15, 0.3, 0.7, 10.0])
@pytest.mark.parametrize(
    "target, arguments",
    [
        *((target, (X, digits)) for target in ("round.decimals", "special_round.default") for digits in (-2, -1, 1, 2)),
        *(("div.Tensor_mode", (X, by, mode)) for by in (0.1, 0.3, 1.5) for mode in ("floor", "trunc")),
        *(("floor_divide.default", (X, by)) for by in (0.1, 0.3, 1.5)),
        *((f"{name}.Scalar", (X, by)) for name in ("remainder", "fmod") for by in (0.1, 0.3)),
    ],
)
def test_functions_jump_where_those_of_pytorch_do(target, arguments, scale):
    """Decimal numbers such as 0.15 lie next to the middle of two results, where the error of float32 decides."""
    quant = Quant((scale,), 3)
    wanted = in_pytorch(f"aten.{target}", arguments, quant).numpy()
    got = reals(BY_TARGET[f"aten.{target}"].name, list(arguments), 0, quant).astype(np.float32)
    np.testing.assert_allclose(got, wanted, rtol=1e-6, atol=1e-6)


def test_a_number_without_a_result_has_the_nearest_one():
    quant = Quant((0.5,), 0)
    output = TensorType(Element.INT8, (256,), quant=Quant((0.1,), 10))
    entries = table("log", [None], 0, quant, output)
    assert set(entries[:129]) == {-128}  # log(0) is minus infinity
    assert entries[128 + 2] == 10  # log(1)
    entries = table("rsqrt", [None], 0, quant, output)
    assert set(entries[:129]) == {127} and entries[128 + 2] == 20
    entries = table("asin", [None], 0, quant, output)
    assert entries[0] == entries[126] == 10 - 16 and entries[255] == entries[130] == 10 + 16
    with pytest.raises(ValueError, match="acosh has no result"):
        table("acosh", [None], 0, Quant((2.0**-9,), 0), output)


def test_clamps_are_exact():
    output = TensorType(Element.INT8, (256,), quant=Quant((0.1,), 0))
    entries = table("neg", [None], 0, Quant((0.1,), 0), output, Clamp(-0.26, 6.0))
    assert entries.min() == -3 and entries.max() == 60


def test_names_are_unique():
    assert len(BY_TARGET) == sum(len(function.targets) for function in FUNCTIONS.values())


# int16 ------------------------------------------------------------------------

WIDE = Element.INT16
NUMBERS_OF_16_BITS = np.arange(WIDE.low, WIDE.high + 1)


def wide(most):
    """int16 for numbers from -most to most."""
    return TensorType(WIDE, (1,), quant=Quant((most / 2.0**15,), 0))


@pytest.mark.parametrize(
    "name, source, output, error",
    [
        ("sigmoid", 8, 1, 2),
        ("tanh", 4, 1, 3),
        ("gelu", 6, 6, 2),
        ("silu", 8, 8, 2),
        ("exp", 4, 55, 20),
        ("softplus", 8, 9, 2),
        ("square", 2, 4, 2),
        ("leaky_relu", 3, 3, 1),
    ],
)
def test_what_lies_between_two_results_is_interpolated(name, source, output, error):
    given = (name, [None], 0, wide(source).quant)
    entries = knots(*given, wide(output))
    assert entries.shape == (513,) and entries.dtype == np.int16
    steps = reals(*given, NUMBERS_OF_16_BITS) / wide(output).quant.scale[0]
    exact = np.clip(steps, WIDE.low, WIDE.high)
    assert np.abs(interpolated(entries, NUMBERS_OF_16_BITS) - exact).max() <= error


def test_steep_functions_have_more_entries_and_zero_stays_zero():
    given = ("sqrt", [None], 0, wide(4.0).quant)
    entries = knots(*given, wide(2.0))
    assert entries.shape == (2049,)
    found = interpolated(entries, NUMBERS_OF_16_BITS)
    assert found[: WIDE.high + 2].tolist() == [0] * (WIDE.high + 2)  # also of negative numbers, which have no root
    exact = np.sqrt(np.arange(1, 2**15)) * 2.0**7.5
    assert np.abs(found[WIDE.high + 2 :] - exact).max() <= 300
    # What is out of range saturates.
    entries = knots("log", [None], 0, wide(4.0).quant, wide(2.0))
    assert entries[1024] == WIDE.low


@pytest.mark.parametrize("name", ["log", "log10", "rsqrt", "reciprocal", "sqrt"])
@pytest.mark.parametrize("power, least", [(2, 0.01), (4, 0.01), (6, 0.001)])
def test_steep_functions_are_more_exact_than_in_int8(name, power, least):
    """Of numbers of several decades, down to some that are less than one step of int8."""
    x = np.linspace(0, 1, 4001) ** power * 30 + least
    exact = FUNCTIONS[name].compute(x)
    errors = {}
    for element in (Element.INT8, WIDE):
        source, output = (_observed(values, element) for values in (x, exact))
        numbers = source.quantize(x.astype(np.float32)).astype(np.int64)
        if element is WIDE:
            found = interpolated(knots(name, [None], 0, source.quant, output), numbers)
        else:
            found = table(name, [None], 0, source.quant, output)[numbers - element.low].astype(np.int64)
        (scale,) = output.quant.scale
        errors[element] = np.square((found - output.quant.zero_point) * scale - exact).sum()
    assert errors[WIDE] < errors[Element.INT8]


def _observed(values, element):
    """The type of `values`, as calibration gives it: of int16 with twice the range."""
    low, high = min(values.min(), 0.0), max(values.max(), 0.0)
    if element is WIDE:
        return TensorType(WIDE, (1,), quant=Quant((2 * max(-low, high) / WIDE.high,), 0))
    scale = (high - low) / 255
    return TensorType(element, (1,), quant=Quant((scale,), round(-128 - low / scale)))


LINES = {
    "mul": ([None, 0.5], Clamp()),
    "rsub": ([None, 1.0], Clamp()),
    "neg": ([None], Clamp()),
    "div": ([None, -3.0], Clamp()),
    "deg2rad": ([None], Clamp()),
    "hardsigmoid": ([None], Clamp(0.0, 1.0)),
    "maximum": ([None, 0.3], Clamp(lo=0.3)),
    "minimum": ([0.3, None], Clamp(hi=0.3)),
    "sign": ([None], Clamp(-1.0, 1.0)),
    "heaviside": ([None, 0.0], Clamp(0.0, 1.0)),
}


@pytest.mark.parametrize("name", LINES)
def test_lines_with_limits_are_found(name):
    arguments, clamp = LINES[name]
    source, output = wide(4.0), wide(8.0)
    found = line(name, arguments, arguments.index(None), source.quant, output)
    assert (found.clamp.lo, found.clamp.hi) == pytest.approx((clamp.lo, clamp.hi), abs=1e-6)
    y = reals(name, arguments, arguments.index(None), source.quant, NUMBERS_OF_16_BITS)
    straight = np.clip(found.factor * NUMBERS_OF_16_BITS * source.quant.scale[0] + found.addend, clamp.lo, clamp.hi)
    np.testing.assert_allclose(straight, y, atol=output.quant.scale[0] / 8)


@pytest.mark.parametrize("name", ["abs", "leaky_relu", "hardswish", "sigmoid", "log", "floor", "square"])
def test_others_are_no_lines(name):
    assert line(name, [None], 0, wide(4.0).quant, wide(8.0)) is None
