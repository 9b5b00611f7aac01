"""The functions of one number that a look-up table or a rescaling computes: `FUNCTIONS`.

To add one, add a line: what it is called, the operators of PyTorch, and the function in numpy. Its targets, its
annotation and its place in the docs follow from that.

Each function gets the operator's arguments in PyTorch's order: the activation, wherever it stands, as an array of
float64 numbers, plain numbers as they are, and texts such as "tanh". It may return NaN and infinity (see `table`).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ..graph.tensor_type import Element, Quant, TensorType
from .attrs import Clamp
from .rescale import RescaleAttrs

ENTRIES = 256  # one for each int8 number
# Of int16, between which results are interpolated: TFLite's, and more for functions that are steep somewhere.
KNOTS = (513, 1025, 2049)
_ERROR = 64  # steps that may be lost by interpolation, a quarter of a step of int8, before there are more

Compute = Callable[..., Any]


@dataclass(frozen=True)
class Function:
    """`targets` are without "aten." and, if there is only one overload, without ".default". `output` is the scale and
    zero point that the quantizer gives the result in int8; None if it depends on the data. `jumps` says that the
    function may do so at several places, between which nothing can be interpolated."""

    name: str
    targets: tuple[str, ...]
    compute: Compute
    output: Optional[Quant] = None
    jumps: bool = False

    @property
    def overloads(self) -> tuple[str, ...]:
        """Returns the targets in full: "aten.exp.default"."""
        return tuple(f"aten.{name}" if "." in name else f"aten.{name}.default" for name in self.targets)


_erf = np.vectorize(math.erf, otypes=[np.float64])


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _softplus(x: Any, beta: float = 1.0, threshold: float = 20.0) -> Any:
    return np.where(x * beta > threshold, x, np.log1p(np.exp(x * beta)) / beta)


def _hardsigmoid(x: Any) -> Any:
    return np.clip(x + 3, 0, 6) / 6


def _elu(x: Any, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Any:
    return scale * np.where(x > 0, x, alpha * np.expm1(np.minimum(x * input_scale, 0)))


def _gelu(x: Any, approximate: str = "none") -> Any:
    if approximate == "tanh":
        return 0.5 * x * (1 + np.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x**3)))
    return 0.5 * x * (1 + _erf(x / math.sqrt(2)))


def _divide(a: Any, b: Any, rounding_mode: Optional[str] = None) -> Any:
    if rounding_mode == "trunc":
        # As in PyTorch the error of float32 decides on which side of a whole number the quotient lies.
        return np.trunc(np.divide(a, b, dtype=np.float32))
    return np.divide(a, b) if rounding_mode is None else np.floor(np.divide(a, b))


def _logit(x: Any, eps: Optional[float] = None) -> Any:
    x = x if eps is None else np.clip(x, eps, 1 - eps)
    return np.log(x / (1 - x))


def _leaky(x: Any, slope: Any = 0.01) -> Any:
    return np.where(x > 0, x, slope * x)


def _round(x: Any, decimals: float = 0.0) -> Any:
    # In this order PyTorch computes it: for fewer digits than there are before the point it divides first. The error of
    # float32 decides whether 0.15 is below the middle of two results.
    x, power = np.asarray(x, np.float32), np.float32(10.0 ** abs(decimals))
    return np.rint(x * power) / power if decimals >= 0 else np.rint(x / power) * power


def _xlogy(a: Any, b: Any) -> Any:
    return np.where(np.isnan(b), b, np.where(np.equal(a, 0), 0.0, a * np.log(b)))


def _xlog1py(a: Any, b: Any) -> Any:
    return np.where(np.isnan(b), b, np.where(np.equal(a, 0), 0.0, a * np.log1p(b)))


def _of_torch(name: str) -> Compute:
    """Returns a function of `torch.special` that NumPy does not have, in float64."""

    def compute(x: Any) -> Any:
        # Imported here because it takes seconds, and few networks have such functions.
        import torch

        return getattr(torch.special, name)(torch.from_numpy(x)).numpy()

    return compute


# Those of TFLite: for the whole range of the function.
_UNIT = Quant((1 / 256,), Element.INT8.low)
_SYMMETRIC = Quant((1 / 128,), 0)

_ALL = (
    # Activations
    Function("sigmoid", ("sigmoid", "special_expit"), _sigmoid, _UNIT),
    Function("tanh", ("tanh",), np.tanh, _SYMMETRIC),
    Function("hardsigmoid", ("hardsigmoid",), _hardsigmoid),
    Function("hardswish", ("hardswish",), lambda x: x * _hardsigmoid(x)),
    Function("silu", ("silu",), lambda x: x * _sigmoid(x)),
    Function("gelu", ("gelu",), _gelu),
    Function("elu", ("elu",), _elu),
    Function("celu", ("celu",), lambda x, alpha=1.0: _elu(x, alpha, 1.0, 1 / alpha)),
    Function("selu", ("selu",), lambda x: _elu(x, 1.6732632423543772, 1.0507009873554805)),
    Function("softplus", ("softplus",), _softplus),
    Function("mish", ("mish",), lambda x: x * np.tanh(_softplus(x))),
    Function("log_sigmoid", ("log_sigmoid",), lambda x: np.minimum(x, 0) - np.log1p(np.exp(-np.abs(x)))),
    Function("leaky_relu", ("leaky_relu",), _leaky),
    Function("prelu", ("prelu",), _leaky),
    Function("hardshrink", ("hardshrink",), lambda x, limit=0.5: np.where(np.abs(x) > limit, x, 0.0), jumps=True),
    Function("softshrink", ("softshrink",), lambda x, limit=0.5: np.sign(x) * np.maximum(np.abs(x) - limit, 0)),
    Function("threshold", ("threshold",), lambda x, limit, value: np.where(x <= limit, value, x), jumps=True),
    # Powers and logarithms
    Function("exp", ("exp",), np.exp),
    Function("exp2", ("exp2",), np.exp2),
    Function("expm1", ("expm1",), np.expm1),
    Function("log", ("log",), np.log),
    Function("log2", ("log2",), np.log2),
    Function("log10", ("log10",), np.log10),
    Function("log1p", ("log1p",), np.log1p),
    Function("logit", ("logit",), _logit),
    Function("sqrt", ("sqrt",), np.sqrt),
    Function("rsqrt", ("rsqrt",), lambda x: 1 / np.sqrt(x)),
    Function("reciprocal", ("reciprocal",), lambda x: 1 / x),
    Function("square", ("square",), np.square),
    Function("pow", ("pow.Tensor_Scalar", "pow.Scalar", "pow.Tensor_Tensor"), np.power),
    # Parts of a number
    Function("abs", ("abs",), np.abs),
    Function("neg", ("neg",), np.negative),
    Function("sign", ("sign", "sgn"), np.sign),
    Function("floor", ("floor",), np.floor, jumps=True),
    Function("ceil", ("ceil",), np.ceil, jumps=True),
    Function("round", ("round", "round.decimals", "special_round"), _round, jumps=True),
    Function("trunc", ("trunc",), np.trunc, jumps=True),
    Function("frac", ("frac",), lambda x: x - np.trunc(x), jumps=True),
    Function("nan_to_num", ("nan_to_num",), lambda x, *_: x),  # an int8 number is finite
    Function("copysign", ("copysign.Scalar", "copysign.Tensor"), np.copysign, jumps=True),
    # Angles
    Function("sin", ("sin",), np.sin),
    Function("cos", ("cos",), np.cos),
    Function("tan", ("tan",), np.tan),
    Function("asin", ("asin",), np.arcsin),
    Function("acos", ("acos",), np.arccos),
    Function("atan", ("atan",), np.arctan),
    Function("sinh", ("sinh",), np.sinh),
    Function("cosh", ("cosh",), np.cosh),
    Function("asinh", ("asinh",), np.arcsinh),
    Function("acosh", ("acosh",), np.arccosh),
    Function("atanh", ("atanh",), np.arctanh),
    Function("sinc", ("sinc",), np.sinc),
    Function("deg2rad", ("deg2rad",), np.deg2rad),
    Function("rad2deg", ("rad2deg",), np.rad2deg),
    Function("angle", ("angle",), lambda x: np.where(x < 0, math.pi, 0.0)),
    # Of statistics and physics
    Function("erf", ("erf",), _erf),
    Function("erfc", ("erfc",), lambda x: 1 - _erf(x)),
    Function("erfcx", ("special_erfcx",), _of_torch("erfcx")),
    Function("erfinv", ("erfinv",), _of_torch("erfinv")),
    Function("ndtr", ("special_ndtr",), _of_torch("ndtr")),
    Function("ndtri", ("special_ndtri",), _of_torch("ndtri")),
    Function("log_ndtr", ("special_log_ndtr",), _of_torch("log_ndtr")),
    Function("entr", ("special_entr",), _of_torch("entr")),
    Function("lgamma", ("lgamma",), _of_torch("gammaln")),
    Function("digamma", ("digamma",), _of_torch("digamma")),
    Function("i0", ("i0",), _of_torch("i0")),
    Function("i0e", ("special_i0e",), _of_torch("i0e")),
    Function("i1", ("special_i1",), _of_torch("i1")),
    Function("i1e", ("special_i1e",), _of_torch("i1e")),
    Function("bessel_j0", ("special_bessel_j0",), _of_torch("bessel_j0")),
    Function("bessel_j1", ("special_bessel_j1",), _of_torch("bessel_j1")),
    # An activation and a number
    Function("add", ("add.Tensor", "add.Scalar"), lambda a, b, alpha=1.0: a + alpha * b),
    Function("sub", ("sub.Tensor", "sub.Scalar"), lambda a, b, alpha=1.0: a - alpha * b),
    Function("rsub", ("rsub.Tensor", "rsub.Scalar"), lambda a, b, alpha=1.0: b - alpha * a),
    Function("mul", ("mul.Tensor", "mul.Scalar"), np.multiply),
    Function("div", ("div.Tensor", "div.Scalar"), _divide),
    Function("div_mode", ("div.Tensor_mode",), _divide, jumps=True),
    Function("floor_divide", ("floor_divide",), lambda a, b: np.floor(a / b), jumps=True),
    Function("remainder", ("remainder.Scalar", "remainder.Tensor"), np.mod, jumps=True),
    Function("fmod", ("fmod.Scalar", "fmod.Tensor"), np.fmod, jumps=True),
    Function("minimum", ("minimum", "fmin"), np.minimum),
    Function("maximum", ("maximum", "fmax"), np.maximum),
    Function("xlogy", ("xlogy.Tensor", "xlogy.Scalar_Self", "xlogy.Scalar_Other"), _xlogy),
    Function("xlog1py", tuple(f"special_xlog1py{o}" for o in ("", ".self_scalar", ".other_scalar")), _xlog1py),
    Function("logaddexp", ("logaddexp",), np.logaddexp),
    Function("logaddexp2", ("logaddexp2",), np.logaddexp2),
    Function("hypot", ("hypot",), np.hypot),
    Function("atan2", ("atan2",), np.arctan2),
    Function("heaviside", ("heaviside",), np.heaviside),
)

FUNCTIONS: Mapping[str, Function] = {function.name: function for function in _ALL}
BY_TARGET: Mapping[str, Function] = {target: function for function in _ALL for target in function.overloads}


def reals(
    function: str, arguments: Sequence[Any], position: int, source: Quant, steps: Optional[np.ndarray] = None
) -> np.ndarray:
    """Returns the function, in float64, of each of the integers `steps`, by default of all int8 numbers in order;
    `arguments[position]` is the activation."""
    if steps is None:
        steps = np.arange(Element.INT8.low, Element.INT8.high + 1, dtype=np.int32)
    # The numbers that a dequantize makes, in float32, and plain numbers as PyTorch reads them.
    (scale,) = source.scale
    x = ((steps - source.zero_point).astype(np.float32) * np.float32(scale)).astype(np.float64)
    given = [float(np.float32(a)) if isinstance(a, (int, float)) else a for a in arguments]
    given[position] = x
    with np.errstate(all="ignore"):
        return np.asarray(FUNCTIONS[function].compute(*given), np.float64)


def _known(values: np.ndarray, function: str, source: Quant) -> np.ndarray:
    """Returns `values` with that of the nearest number that has one in place of NaN. ValueError if none has."""
    known = np.flatnonzero(~np.isnan(values))
    if not len(known):
        raise ValueError(f"{function} has no result for any number of scale {source.scale[0]:g}")
    numbers = np.arange(len(values))
    after = np.clip(np.searchsorted(known, numbers), 1, max(len(known) - 1, 1))
    before = known[after - 1]
    after = known[np.minimum(after, len(known) - 1)]
    return values[np.where(numbers - before <= after - numbers, before, after)]


def table(
    function: str, arguments: Sequence[Any], position: int, source: Quant, output: TensorType, clamp: Clamp = Clamp()
) -> np.ndarray:
    """Returns the int8 result for each int8 number, in order, [256].

    That is what quantize makes of the float32 number nearest to the function of what dequantize makes of the number.
    PyTorch's quantized graph computes the same, but for its own error in float32: results differ, by one step, only
    if that error decides how a number is rounded. Infinity saturates, as there. A number without a result, such as -1
    for a logarithm, gets that of the nearest number that has one: PyTorch does not define what NaN is quantized to.
    ValueError if no number has a result.
    """
    values = _known(reals(function, arguments, position, source), function, source)
    with np.errstate(over="ignore"):
        return output.quantize(np.clip(values, clamp.lo, clamp.hi).astype(np.float32))


def knots(function: str, arguments: Sequence[Any], position: int, source: Quant, output: TensorType) -> np.ndarray:
    """Returns int16 [513]: the results for -32768, -32640, ..., 32768, between which `interpolated` gives all others;
    two or four times as many if that loses more than 64 steps of a result.

    Each is moved by half of what a line to the next one misses in the middle, which halves the error of interpolation
    [TFLite LUTPopulate, kernels/internal/common.h, whose numbers are 65535/65536 as far apart]; but 0 stays 0. If the
    most entries still lose more, they are those with the least squared error over all numbers (`_fitted`). A number
    without a finite result gets that of the nearest one that has one, as a line to infinity would spoil all results
    beside it; of two equally near, the greater number's, so that 1 / 0 is positive. ValueError if there is none.
    """
    element = output.element
    numbers = np.arange(element.low, element.high + 2)
    values = reals(function, arguments, position, source, numbers)
    finite = np.isfinite(values)
    # Beyond twice the range only the sign counts.
    known = _known(np.where(finite, values, np.nan)[::-1], function, source)[::-1]
    steps = np.clip(known / output.per_tensor.scale[0], 2.0 * element.low, 2.0 * element.high)
    found = np.zeros(0, element.numpy)
    for count in KNOTS:
        cell = len(steps) // (count - 1)
        at, middle = np.rint(steps[::cell]), np.rint(steps[cell // 2 :: cell])
        missed = np.rint((at[:-1] + steps[cell::cell]) / 2) - middle
        at[:-1] -= np.where(at[:-1] == 0, 0, np.rint(missed / 2))
        found = output.clamp(at)
        if np.abs(interpolated(found, numbers[:-1]) - output.clamp(steps[:-1])).max() <= _ERROR:
            return found
    fitted = np.rint(_fitted(found.astype(np.float64), output.clamp(steps), _counted(finite, numbers)))
    return output.clamp(np.where(np.abs(fitted - found) <= 1, found, fitted))


def _counted(finite: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Returns which of `numbers` should be close to their results: those that have a finite one. Of a function with a
    pole at 0, such as 1 / x, only the positive ones beside 0 are, as one entry cannot serve both sides."""
    pole = not finite[numbers == 0][0] and finite[numbers == -1][0]
    counted: np.ndarray = finite & ~((numbers < 0) & (numbers >= -(len(numbers) // (KNOTS[-1] - 1))) & pole)
    return counted


def _fitted(entries: np.ndarray, steps: np.ndarray, counted: np.ndarray) -> np.ndarray:
    """Returns, in float64, the entries between which lines have the least squared distance to those of `steps` that are
    `counted`; entries that no number tells stay, and so do those of 0."""
    cell = len(steps) // (len(entries) - 1)
    wanted, weight = (x[:-1].reshape(-1, cell).astype(np.float64) for x in (steps, counted))
    right = np.arange(cell) / cell
    left = 1 - right
    # The normal equations, of which each has its two neighbours alone.
    stay = np.where(entries == 0, 1e9, 1e-6)
    diagonal, sides = stay.copy(), stay * entries
    diagonal[:-1] += (weight * left**2).sum(1)
    diagonal[1:] += (weight * right**2).sum(1)
    sides[:-1] += (weight * left * wanted).sum(1)
    sides[1:] += (weight * right * wanted).sum(1)
    beside = (weight * left * right).sum(1)
    for i, between in enumerate(beside):
        factor = between / diagonal[i]
        diagonal[i + 1] -= factor * between
        sides[i + 1] -= factor * sides[i]
    found: np.ndarray = sides / diagonal
    for i in range(len(beside) - 1, -1, -1):
        found[i] -= beside[i] / diagonal[i] * found[i + 1]
    return found


def interpolated(entries: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """Returns the result for int16 `numbers`, int64 of their shape, between the two of `entries` around each."""
    entries, numbers = entries.astype(np.int64), numbers.astype(np.int64)
    cell = (1 << Element.INT16.bits) // (len(entries) - 1)
    index = numbers // cell + len(entries) // 2
    slope = entries[index + 1] - entries[index]
    return np.asarray(entries[index] + ((slope * (numbers % cell) + cell // 2) // cell))


def line(
    function: str, arguments: Sequence[Any], position: int, source: Quant, output: TensorType
) -> Optional[RescaleAttrs]:
    """Returns a factor, an addend and limits that compute the function for all int16 numbers, as far as float32 can
    tell; None if there are none. Limits that are a step apart make a jump: `heaviside` and `sign` are lines, too."""
    element = output.element
    steps = np.arange(element.low, element.high + 1)
    y = reals(function, arguments, position, source, steps)
    if not np.isfinite(y).all():
        return None
    x = reals("nan_to_num", [None], 0, source, steps)
    low, high = float(y.min()), float(y.max())
    slope = np.flatnonzero((y > low) & (y < high))
    if len(slope) < 2:  # at most a jump, between the last number of one end and the first one of the other
        slope = np.flatnonzero(np.diff(y, append=y[-1]) + np.diff(y, prepend=y[0]))
    factor, addend = 0.0, low
    if len(slope) > 1:
        first, last = slope[[0, -1]]
        factor = float((y[last] - y[first]) / (x[last] - x[first]))
        addend = float(y[first] - factor * x[first])
    straight, tolerance = factor * x + addend, output.per_tensor.scale[0] / 16
    clamp = Clamp(
        low if straight.min() < low - tolerance else -math.inf, high if straight.max() > high + tolerance else math.inf
    )
    if np.abs(np.clip(straight, clamp.lo, clamp.hi) - y).max() > tolerance:
        return None
    return RescaleAttrs(factor, addend, clamp, function)
