"""Integer arithmetic of CMSIS-NN and TFLite Micro, in numpy.

Values are int64 arrays that always hold int32 numbers: every step that could
leave the range is wrapped as a 32-bit register would (`wrap32`), so that results
equal those of the C kernels bit for bit. Names in brackets are the functions of
CMSIS-NN (Include/arm_nnsupportfunctions.h) and of TensorFlow Lite
(kernels/internal/quantization_util.cc) whose results these reproduce.
"""

from __future__ import annotations

import math
from typing import Union

import numpy as np

from ..format.element import COMMON_ELEMENT, Element
from ..format.schema import MAX_SHIFT, MIN_SHIFT

# A number for all elements of an array, or an array that broadcasts against it.
Integers = Union[int, np.ndarray]

INT32_MIN = -(1 << 31)
INT32_MAX = (1 << 31) - 1


def wrap32(x: np.ndarray) -> np.ndarray:
    """`x` modulo 2^32, as signed numbers."""
    return np.asarray(x, np.int64).astype(np.int32).astype(np.int64)


def quantize_multiplier(real: float) -> tuple[int, int]:
    """(Q31 mantissa, left shift) of a real number >= 0 [TFLite QuantizeMultiplier].

    Numbers below 2^-32 become zero, as there. ValueError if `real` is negative, not
    finite, or so large that the shift exceeds `MAX_SHIFT`.
    """
    if not (math.isfinite(real) and real >= 0):
        raise ValueError(f"a multiplier must be finite and not negative: {real}")
    mantissa, shift = math.frexp(real)
    fixed = math.floor(mantissa * (1 << 31) + 0.5)
    if fixed == 1 << 31:
        fixed //= 2
        shift += 1
    if shift < MIN_SHIFT:
        return 0, 0
    if shift > MAX_SHIFT:
        raise ValueError(f"multiplier {real} is too large for 32-bit arithmetic")
    return fixed, shift


def quantize_multipliers(reals: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`quantize_multiplier` of each element: int32 mantissas and shifts."""
    pairs = [quantize_multiplier(float(real)) for real in reals]
    multipliers, shifts = zip(*pairs)
    return np.array(multipliers, np.int32), np.array(shifts, np.int32)


def divide_by_power_of_two(x: np.ndarray, exponent: Integers) -> np.ndarray:
    """x / 2^exponent, rounded to nearest, halves away from zero [arm_nn_divide_by_power_of_two]."""
    mask = (np.int64(1) << exponent) - 1
    quotient: np.ndarray = x >> exponent
    threshold = (mask >> 1) + (quotient < 0)
    rounded: np.ndarray = quotient + ((x & mask) > threshold)
    return rounded


def requantize(acc: np.ndarray, multiplier: Integers, shift: Integers) -> np.ndarray:
    """acc * multiplier * 2^(shift - 31), rounded twice [arm_nn_requantize without single rounding].

    `multiplier` and `shift` are numbers or int arrays that broadcast against `acc`.
    """
    multiplier = np.asarray(multiplier, np.int64)
    shift = np.asarray(shift, np.int64)
    shifted = wrap32(wrap32(acc) << np.maximum(shift, 0))
    product = wrap32((shifted * multiplier + (1 << 30)) >> 31)
    return divide_by_power_of_two(product, np.maximum(-shift, 0))


def reduced_multiplier(multiplier: Integers) -> np.ndarray:
    """A Q31 mantissa, or several, in Q15 [CMSIS-NN REDUCE_MULTIPLIER]."""
    reduced: np.ndarray = np.minimum((np.asarray(multiplier, np.int64) + (1 << 15)) >> 16, (1 << 15) - 1)
    return reduced


def requantize_long(acc: np.ndarray, multiplier: Integers, shift: Integers) -> np.ndarray:
    """acc * multiplier * 2^(shift - 31) of sums of at most 48 bits, rounded half up, with the multiplier rounded to 16
    bits [arm_nn_requantize_s64]. The result has 31 bits; higher ones are lost. `multiplier` and `shift` are as in
    `requantize`, shifts at most 14."""
    doubled: np.ndarray = wrap32((acc * reduced_multiplier(multiplier)) >> (14 - np.asarray(shift, np.int64)))
    return wrap32(doubled + 1) >> 1


def to_output(acc: np.ndarray, zero_point: int, lo: int, hi: int, element: Element = COMMON_ELEMENT) -> np.ndarray:
    """clamp(acc + zero_point, lo, hi), as `element`."""
    limited: np.ndarray = np.clip(wrap32(acc + zero_point), lo, hi)
    return limited.astype(element.numpy)


# Fixed point for softmax ----------------------------------------------------


def high_mult(a: Integers, b: Integers) -> np.ndarray:
    """a * b / 2^31, rounded, saturating [arm_nn_doubling_high_mult]."""
    a, b = np.broadcast_arrays(np.asarray(a, np.int64), np.asarray(b, np.int64))
    nudged = a * b + np.where((a < 0) ^ (b < 0), 1 - (1 << 30), 1 << 30)
    # C division truncates towards zero.
    result = np.where(nudged >= 0, nudged >> 31, -((-nudged) >> 31))
    return np.where((a == b) & (a == INT32_MIN), INT32_MAX, result)


def mult_by_power_of_two(x: np.ndarray, exponent: int) -> np.ndarray:
    """x * 2^exponent, saturating [arm_nn_mult_by_power_of_two]."""
    threshold = (1 << (31 - exponent)) - 1
    result = wrap32(x << exponent)
    result = np.where(x > threshold, INT32_MAX, result)
    return np.where(x < -threshold, INT32_MIN, result)


# exp(-2^k) in Q31 for k = -2 .. 4, the factors by which exp_on_negative_values composes.
_EXP_FACTORS = (1672461947, 1302514674, 790015084, 290630308, 39332535, 720401, 242)
_EXP_MINUS_EIGHTH = 1895147668  # exp(-1/8) in Q31
_THIRD = 715827883  # 1/3 in Q31


def exp_on_negative_values(x: np.ndarray) -> np.ndarray:
    """exp(x) in Q31 for x <= 0 in Q5.26 [arm_nn_exp_on_negative_values].

    A Taylor series around -1/8 for the part in [-1/4, 0), times a factor for every
    bit of the rest.
    """
    x = np.asarray(x, np.int64)
    quarter = 1 << 24
    fraction = (x & (quarter - 1)) - quarter
    remainder = fraction - x
    t = wrap32((fraction << 5) + (1 << 28))
    t2 = high_mult(t, t)
    t4_over_4 = divide_by_power_of_two(high_mult(t2, t2), 2)
    series = divide_by_power_of_two(wrap32(high_mult(wrap32(t4_over_4 + high_mult(t2, t)), _THIRD) + t2), 1)
    result = wrap32(_EXP_MINUS_EIGHTH + high_mult(_EXP_MINUS_EIGHTH, wrap32(t + series)))
    for bit, factor in enumerate(_EXP_FACTORS, start=24):
        result = np.where(remainder & (1 << bit), high_mult(result, factor), result)
    return np.where(x == 0, INT32_MAX, result)


def one_over_one_plus_x(x: np.ndarray) -> np.ndarray:
    """1 / (1 + x) in Q31 for x in [0, 1) in Q31 [arm_nn_one_over_one_plus_x_for_x_in_0_1].

    Three Newton steps for the reciprocal of the halved denominator.
    """
    total = np.asarray(x, np.int64) + INT32_MAX
    nudged = total + np.where(total >= 0, 1, -1)
    half = wrap32(np.where(nudged >= 0, nudged >> 1, -((-nudged) >> 1)))
    y = wrap32(1515870810 + high_mult(half, -1010580540))  # 48/17 - 32/17 * half, Q2.29
    for _ in range(3):
        error = wrap32((1 << 29) - high_mult(half, y))
        y = wrap32(y + mult_by_power_of_two(high_mult(y, error), 2))
    return mult_by_power_of_two(y, 1)


def leading_zeros(x: np.ndarray) -> np.ndarray:
    """Leading zero bits of each int32; 32 for 0."""
    unsigned = np.asarray(x, np.int64) & 0xFFFFFFFF
    # frexp is exact here: the exponent of an integer below 2^53 is its bit length.
    return 32 - np.frexp(unsigned.astype(np.float64))[1].astype(np.int64)
