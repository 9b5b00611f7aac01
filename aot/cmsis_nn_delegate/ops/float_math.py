"""Functions of float32 numbers, each in a stated order of IEEE 754 operations, so that kernels compute the same bits.

They are made of +, -, *, /, the square root and operations on the bits of a number alone: the functions of a C library
differ from one to the next. runtime/kernels/common/float_math.h has the same functions with the same constants. The
polynomials of exp, log, tanh and erf are those of the Cephes library (S. L. Moshier, single precision: expf.c, logf.c,
tanhf.c, ndtrf.c). `float_math_test` compares every function with float64 and states its largest error.

Arguments and results are arrays of float32. Results that are too large become infinity. NaN gives NaN, whose bits are
not defined.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

_F = np.float32
_LOG2_E, _LN2_HIGH, _LN2_LOW = _F(1.44269504088896341), _F(0.693359375), _F(-2.12194440e-4)
_EXP_HIGH, _EXP_LOW = _F(88.72284), _F(-104.0)
_EXP = (1.9875691500e-4, 1.3981999507e-3, 8.3334519073e-3, 4.1665795894e-2, 1.6666665459e-1, 5.0000001201e-1)
_EXPM1_NEAR = _F(0.34657359)  # half of log(2): up to there, exp has nothing to scale
_LOG = (
    *(7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1),
    *(-1.6668057665e-1, 2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1),
)
_LOG1P_LOW, _LOG1P_HIGH = _F(-0.29289322), _F(0.41421356)  # where 1 + x is between the roots of 1/2 and of 2
_TANH = (-5.70498872745e-3, 2.06390887954e-2, -5.37397155531e-2, 1.33314422036e-1, -3.33332819422e-1)
_ERF = (
    *(7.853861353153693e-5, -8.010193625184903e-4, 5.188327685732524e-3, -2.685381193529856e-2),
    *(1.128358514861418e-1, -3.761262582423300e-1, 1.128379165726710e0),
)
# Of erfc(x) * exp(x * x) * x, in 1 / x^2, from 1 to 2, and from 2 on.
_ERFC = (
    *(2.326819970068386e-2, -1.387039388740657e-1, 3.687424674597105e-1, -5.824733027278666e-1),
    *(6.210004621745983e-1, -4.944515323274145e-1, 3.404879937665872e-1, -2.741127028184656e-1),
    5.638259427386472e-1,
)
_ERFC_FAR = (
    *(-1.047766399936249e1, 1.297719955372516e1, -7.495518717768503e0, 2.921019019210786e0),
    *(-1.015265279202700e0, 4.218463358204948e-1, -2.820767439740514e-1, 5.641895067754075e-1),
)

_BLOCK = 32  # of `total`
TOTAL = (
    "total: blocks of 32 elements are each added one after the other to 0, then neighbouring sums in pairs, again and "
    "again, until one is left."
)


def _polynomial(x: Any, coefficients: Sequence[float]) -> Any:
    """Horner's rule, the coefficient of the highest power first."""
    total = np.full_like(x, _F(coefficients[0]))
    for coefficient in coefficients[1:]:
        total = total * x + _F(coefficient)
    return total


def _power_of_two(exponent: Any) -> Any:
    """2^exponent for exponents of normal numbers, as the bits of a number."""
    return ((exponent + 127) << 23).astype(np.int32).view(np.float32)


def total(x: np.ndarray) -> np.ndarray:
    """Returns the float32 sums along dimension 1 of [outer, n, inner], as [outer, inner].

    Blocks of 32 elements are each added one after the other to 0, and then neighbouring sums in pairs, again and again,
    until one is left; the last one of an odd number stays as it is. The error is at most 31 + log2(n / 32), rounded
    up, times 2^-24 of the sum of all |x|, where numbers added one after the other have n - 1 times that.
    """
    outer, count, inner = x.shape
    blocks = max(-(-count // _BLOCK), 1)
    # No sum is -0, so that adding 0 changes nothing.
    padded = np.zeros((outer, blocks * _BLOCK, inner), np.float32)
    padded[:, :count] = x
    padded = padded.reshape(outer, blocks, _BLOCK, inner)
    sums = np.zeros((outer, blocks, inner), np.float32)
    for i in range(_BLOCK):
        sums = sums + padded[:, :, i]
    while sums.shape[1] > 1:
        if sums.shape[1] % 2:
            sums = np.concatenate([sums, np.zeros((outer, 1, inner), np.float32)], 1)
        sums = sums[:, ::2] + sums[:, 1::2]
    result: np.ndarray = sums[:, 0]
    return result


def exp(x: Any) -> Any:
    """e^x."""
    inside = np.where((x > _EXP_LOW) & (x < _EXP_HIGH), x, _F(0))
    scaled = inside * _LOG2_E
    count = (scaled + np.where(scaled < 0, _F(-0.5), _F(0.5))).astype(np.int32)  # towards 0
    whole = count.astype(np.float32)
    rest = inside - whole * _LN2_HIGH
    rest = rest - whole * _LN2_LOW
    result = _polynomial(rest, _EXP) * (rest * rest) + rest + _F(1)
    half = count >> 1
    with np.errstate(over="ignore", under="ignore"):
        result = result * _power_of_two(half) * _power_of_two(count - half)
    result = np.where(x >= _EXP_HIGH, _F(np.inf), np.where(x <= _EXP_LOW, _F(0), result))
    return np.where(np.isnan(x), x, result)


def expm1(x: Any) -> Any:
    """e^x - 1."""
    near = np.where(np.abs(x) < _EXPM1_NEAR, x, _F(0))
    near = _polynomial(near, _EXP) * (near * near) + near
    return np.where(np.abs(x) < _EXPM1_NEAR, near, exp(x) - _F(1))


def log(x: Any) -> Any:
    """The natural logarithm: -infinity of 0, and NaN of negative numbers."""
    inside = np.where((x > 0) & (x < _F(np.inf)), x, _F(1))
    small = inside < _F(1.17549435e-38)
    inside = inside * np.where(small, _F(8388608), _F(1))
    bits = inside.view(np.int32)
    exponent = (bits >> 23) - 126 - np.where(small, 23, 0)
    mantissa = ((bits & 0x7FFFFF) | 0x3F000000).astype(np.int32).view(np.float32)  # from 0.5 to 1
    low = mantissa < _F(0.707106781186547524)
    exponent = np.where(low, exponent - 1, exponent).astype(np.float32)
    rest = np.where(low, mantissa + mantissa - _F(1), mantissa - _F(1))
    square = rest * rest
    result = _polynomial(rest, _LOG) * rest * square
    result = result + _LN2_LOW * exponent
    result = result - _F(0.5) * square
    result = rest + result
    result = result + _LN2_HIGH * exponent
    result = np.where(x == 0, _F(-np.inf), np.where(x < 0, _F(np.nan), result))
    return np.where(np.isnan(x) | (x == _F(np.inf)), x, result)


def log1p(x: Any) -> Any:
    """The logarithm of 1 + x: -infinity of -1, and NaN of less."""
    is_near = (x > _LOG1P_LOW) & (x < _LOG1P_HIGH)
    near = np.where(is_near, x, _F(0))
    square = near * near
    near = near + (_polynomial(near, _LOG) * near * square - _F(0.5) * square)
    return np.where(is_near, near, log(_F(1) + x))


def softplus(x: Any) -> Any:
    """log(1 + e^x), of e^-|x| so that nothing overflows."""
    return np.where(x < 0, _F(0), x) + log1p(exp(-np.abs(x)))


def sqrt(x: Any) -> Any:
    """Correctly rounded; NaN of negative numbers."""
    with np.errstate(invalid="ignore"):
        return np.where(x < 0, _F(np.nan), np.sqrt(x))


def rsqrt(x: Any) -> Any:
    """1 / the square root, rounded twice; NaN of negative numbers."""
    with np.errstate(invalid="ignore", divide="ignore"):
        return np.where(x < 0, _F(np.nan), _F(1) / np.sqrt(x))


def sigmoid(x: Any) -> Any:
    """1 / (1 + e^-x), of e^-|x| so that nothing overflows."""
    power = exp(-np.abs(x))
    return np.where(x < 0, power, _F(1)) / (_F(1) + power)


def tanh(x: Any) -> Any:
    """The hyperbolic tangent."""
    size = np.abs(x)
    far = _F(1) - _F(2) / (exp(size + size) + _F(1))
    near = np.where(size < _F(0.625), x, _F(0))
    square = near * near
    near = _polynomial(square, _TANH) * square * near + near
    return np.where(size < _F(0.625), near, np.where(x < 0, -far, far))


def erf(x: Any) -> Any:
    """The error function."""
    size = np.abs(x)
    near = np.where(size < _F(1), x, _F(0))
    near = near * _polynomial(near * near, _ERF)
    # From 4 on it is 1 in float32.
    far = np.where(size < _F(4), _F(1) - _erfc_far(np.where(size >= _F(1), size, _F(1))), _F(1))
    far = np.where(np.isnan(x), x, np.where(x < 0, -far, far))
    return np.where(size < _F(1), near, far)


def erfc(x: Any) -> Any:
    """1 - the error function."""
    is_far = x >= _F(1)
    return np.where(is_far, _erfc_far(np.where(is_far, x, _F(1))), _F(1) - erf(x))


def _erfc_far(x: Any) -> Any:
    """erfc of numbers from 1 on."""
    inverse = _F(1) / x
    square = inverse * inverse
    factor = np.where(x < _F(2), _polynomial(square, _ERFC), _polynomial(square, _ERFC_FAR))
    return exp(-(x * x)) * inverse * factor
