"""Functions of float32 next to float64, and what they give where there is no number."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cmsis_nn_delegate.ops import float_math as fm

POINTS = 200_001
# Name, exact function, from, to, largest error in units of the last place.
CASES = (
    ("exp", np.exp, -87.3, 88.7, 1.0),
    ("exp", np.exp, -103.9, -87.3, 1.0),
    ("log", np.log, 0.5, 2.0, 1.0),
    ("log", np.log, 1e-44, 1e-37, 1.0),
    ("log", np.log, 2.0, 3e38, 1.0),
    ("sigmoid", lambda x: 1 / (1 + np.exp(-x)), -80, 80, 2.5),
    ("tanh", np.tanh, -10, 10, 2.5),
    ("erf", np.vectorize(math.erf), -5, 5, 3.0),
    ("rsqrt", lambda x: 1 / np.sqrt(x), 1e-38, 1e38, 1.5),
)


@pytest.mark.parametrize(("name", "exact", "low", "high", "most"), CASES)
def test_errors_are_no_larger_than_docs_say(name, exact, low, high, most):
    x = np.linspace(low, high, POINTS).astype(np.float32)
    found = getattr(fm, name)(x)
    assert found.dtype == np.float32
    wanted = exact(x.astype(np.float64))
    step = np.spacing(np.abs(wanted).astype(np.float32)).astype(np.float64)
    assert (np.abs(found - wanted) / step).max() <= most


@pytest.mark.parametrize("count", [1, 31, 33, 96, 1024, 50_176, 90_001])
def test_sums_of_many_numbers_keep_their_bits(count):
    """Of numbers far from 0, such as pixels: added one after the other, 90,000 lose half of their bits."""
    x = (1 + 0.05 * np.random.default_rng(0).random((2, count, 3))).astype(np.float32)
    found = fm.total(x)
    assert found.dtype == np.float32 and found.shape == (2, 3)
    wanted = x.astype(np.float64).sum(1)
    assert np.abs(found / wanted - 1).max() < 3e-7
    # The bound that the docstring states.
    assert np.abs(found / wanted - 1).max() <= (31 + max(math.log2(count / 32), 0)) * 2.0**-24


def test_what_is_beyond_float32_and_what_is_no_number():
    inf, nan = np.inf, np.nan
    x = np.array([inf, -inf, nan, 1000, -1000, 0, -1], np.float32)
    expected = {
        "exp": [inf, 0, nan, inf, 0, 1, None],
        "log": [inf, nan, nan, None, nan, -inf, nan],
        "sqrt": [inf, nan, nan, None, nan, 0, nan],
        "sigmoid": [1, 0, nan, 1, 0, 0.5, None],
        "tanh": [1, -1, nan, 1, -1, 0, None],
        "erf": [1, -1, nan, 1, -1, 0, None],
    }
    for name, wanted in expected.items():
        found = getattr(fm, name)(x)
        for value, want in zip(found, wanted):
            assert want is None or np.array_equal(value, np.float32(want), equal_nan=True), name
