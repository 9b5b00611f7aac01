"""Scalar models in Python's unbounded integers against the vectorized functions."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmsis_nn_delegate.ops import quantized_math as qm

INT32 = st.one_of(st.integers(qm.INT32_MIN, qm.INT32_MAX), st.integers(-512, 512))
MANTISSA = st.integers(1 << 30, (1 << 31) - 1)


def wrap(x: int) -> int:
    return (x + (1 << 31)) % (1 << 32) - (1 << 31)


def round_half_away(numerator: int, denominator: int) -> int:
    magnitude = (2 * abs(numerator) + denominator) // (2 * denominator)
    return magnitude if numerator >= 0 else -magnitude


@given(st.floats(1e-12, 2.0**29))
def test_quantize_multiplier_is_accurate(real):
    mantissa, shift = qm.quantize_multiplier(real)
    if mantissa == 0:
        assert real < 2.0**-31
        return
    assert 1 << 30 <= mantissa < 1 << 31
    assert abs(math.ldexp(mantissa, shift - 31) - real) <= math.ldexp(1, shift - 32)


@pytest.mark.parametrize(
    "real, expected",
    [
        (0.0, (0, 0)),
        (1.0, (1 << 30, 1)),
        (0.5, (1 << 30, 0)),
        (0.25, (1 << 30, -1)),
        (1 - 2**-40, (1 << 30, 1)),  # rounds up to a power of two
        (2.0**-32, (1 << 30, -31)),
        (2.0**-33, (0, 0)),
    ],
)
def test_quantize_multiplier_corners(real, expected):
    assert qm.quantize_multiplier(real) == expected


@pytest.mark.parametrize("real", [2.0**30, math.inf, math.nan, -0.5])
def test_quantize_multiplier_refuses(real):
    with pytest.raises(ValueError, match="multiplier"):
        qm.quantize_multiplier(real)


@given(INT32, st.integers(0, 31))
def test_divide_by_power_of_two(x, exponent):
    assert int(qm.divide_by_power_of_two(np.int64(x), exponent)) == round_half_away(x, 1 << exponent)


@given(INT32, MANTISSA, st.integers(-31, 30))
def test_requantize(acc, multiplier, shift):
    shifted = wrap(acc << max(shift, 0))
    product = (shifted * multiplier + (1 << 30)) >> 31
    expected = round_half_away(product, 1 << max(-shift, 0))
    assert int(qm.requantize(np.array([acc]), multiplier, shift)[0]) == expected


@given(INT32, INT32)
def test_high_mult(a, b):
    if a == b == qm.INT32_MIN:
        expected = qm.INT32_MAX
    else:
        nudge = (1 << 30) if (a < 0) == (b < 0) else 1 - (1 << 30)
        expected = int(math.copysign(abs(a * b + nudge) >> 31, a * b + nudge))
    assert int(qm.high_mult(a, b)) == expected


def test_exp_on_negative_values_is_accurate():
    x = -np.arange(0, 32 << 26, 999_983, dtype=np.int64)
    expected = np.exp(x / (1 << 26)) * (1 << 31)
    assert np.max(np.abs(qm.exp_on_negative_values(x) - expected)) < 2**9


def test_one_over_one_plus_x_is_accurate():
    x = np.arange(0, 1 << 31, 1_999_993, dtype=np.int64)
    expected = (1 << 31) / (1 + x / (1 << 31))
    assert np.max(np.abs(qm.one_over_one_plus_x(x) - expected)) < 2**7


@given(INT32)
def test_leading_zeros(x):
    assert int(qm.leading_zeros(np.int64(x))) == 32 - (x & 0xFFFFFFFF).bit_length()
