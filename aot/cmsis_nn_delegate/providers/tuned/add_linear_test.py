"""The linear functions that replace sums equal them for every pair of int8."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.ops.add import Arithmetic
from cmsis_nn_delegate.ops.quantized_math import quantize_multiplier
from cmsis_nn_delegate.providers.tuned.add_linear import linear

PAIRS = np.meshgrid(np.arange(-128, 128), np.arange(-128, 128))
ZERO_POINTS = st.one_of(st.sampled_from([-128, 0]), st.integers(-128, 127))
LIMITS = st.sampled_from([(-128, 127), (-128, 40), (-3, 127), (-70, 10), (9, 9)])


def arithmetic_of(a: float, b: float, output: float, zero_points: tuple[int, int, int], limits=(-128, 127)):
    """Scales of a, b and the output."""
    twice = 2 * max(a, abs(b))
    first, second = quantize_multiplier(a / twice), quantize_multiplier(abs(b) / twice)
    second = (second[0] if b > 0 else -second[0]), second[1]
    return Arithmetic(zero_points, (first, second, quantize_multiplier(twice / (2.0**20 * output))), limits)


def computed(arithmetic: Arithmetic) -> np.ndarray:
    """Returns what the instructions make of all pairs; sums wrap as registers do."""
    factor1, factor2, constant = linear(arithmetic)
    total = constant + (factor1 * PAIRS[0] >> 8) + (factor2 * PAIRS[1] >> 8)
    return np.clip(total.astype(np.int32) >> 20, *arithmetic.limits)


@settings(deadline=None, max_examples=60)
@given(
    st.floats(-4, 4),
    st.one_of(st.sampled_from([-1.0, 0.0, 1.0]), st.floats(-4, 4)),
    st.sampled_from([1.0, -1.0]),
    st.one_of(st.sampled_from([-2.0, -1.0, 0.0, 1.0]), st.floats(-4, 2)),
    st.tuples(ZERO_POINTS, ZERO_POINTS, ZERO_POINTS),
    LIMITS,
)
def test_every_result_is_right(a, b, sign, inputs, zero_points, limits):
    scales = 2.0**a, sign * 2.0 ** (a + b)
    arithmetic = arithmetic_of(*scales, max(map(abs, scales)) * 2.0**-inputs, zero_points, limits)
    assume(linear(arithmetic) is not None)
    assert (computed(arithmetic) == arithmetic.sum(*PAIRS)).all()


def test_halves_are_rounded_away_from_zero():
    """With every second sum halfway between two results."""
    for zero_points in ((0, 0, 0), (-128, 3, -7)):
        arithmetic = arithmetic_of(1.0, 1.0, 2.0, zero_points)
        assert linear(arithmetic) is not None
        assert (computed(arithmetic) == arithmetic.sum(*PAIRS)).all()


def test_outputs_of_much_finer_steps_have_none():
    assert linear(arithmetic_of(1.0, 0.5, 1 / 9, (0, 0, 0))) is None
    assert linear(arithmetic_of(1.0, 0.5, 1 / 5, (0, 0, 0))) is not None
