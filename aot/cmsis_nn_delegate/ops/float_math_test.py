"""Functions of float32 next to float64, and what they give where there is no number."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cmsis_nn_delegate.ops import float_math as fm
from cmsis_nn_delegate.ops.function_float32 import FUNCTIONS

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
    ("expm1", np.expm1, -100, -1e-3, 3.0),
    ("expm1", np.expm1, -1e-3, 1e-3, 3.0),
    ("expm1", np.expm1, 1e-3, 88, 3.5),
    ("elu", np.expm1, -1e-3, 0, 3.0),
    ("log1p", np.log1p, -0.999, 1, 3.0),
    ("log1p", np.log1p, -1e-3, 1e-3, 3.0),
    ("log2", np.log2, 0.01, 100, 2.0),
    ("log10", np.log10, 0.01, 100, 2.0),
    ("softplus", lambda x: np.logaddexp(0, x), -80, -1, 3.0),
    ("softplus", lambda x: np.logaddexp(0, x), -1, 100, 3.0),
    ("rsqrt", lambda x: 1 / np.sqrt(x), 1e-38, 1e38, 1.5),
)


@pytest.mark.parametrize(("name", "exact", "low", "high", "most"), CASES)
def test_errors_are_no_larger_than_docs_say(name, exact, low, high, most):
    x = np.linspace(low, high, POINTS).astype(np.float32)
    found = FUNCTIONS[name](x, np.float32(1), np.float32(0))  # 1: the factor of elu
    assert found.dtype == np.float32
    wanted = exact(x.astype(np.float64))
    step = np.spacing(np.abs(wanted).astype(np.float32)).astype(np.float64)
    assert (np.abs(found - wanted) / step).max() <= most


@pytest.mark.parametrize("name", ["gelu", "gelu_tanh"])
def test_gelu_does_not_cancel_below_0(name):
    """1 + erf(x) has no bits left of its result at -6."""
    x = np.linspace(-10, -1, POINTS).astype(np.float32)
    found = FUNCTIONS[name](x, np.float32(0), np.float32(0))
    real = x.astype(np.float64)
    if name == "gelu":
        wanted = 0.5 * real * np.vectorize(math.erfc)(-real / math.sqrt(2))
    else:
        wanted = real / (1 + np.exp(-2 * math.sqrt(2 / math.pi) * (real + 0.044715 * real**3)))
    assert np.abs(found / wanted - 1).max() < 2e-5


@pytest.mark.parametrize("count", [1, 31, 33, 96, 1024, 50_176, 90_001])
def test_sums_of_many_numbers_keep_their_bits(count):
    """Of numbers far from 0, such as pixels: added one after the other, 90,000 lose half of their bits."""
    x = (1 + 0.05 * np.random.default_rng(0).random((2, count, 3))).astype(np.float32)
    found = fm.total(x)
    assert found.dtype == np.float32 and found.shape == (2, 3)
    wanted = x.astype(np.float64).sum(1)
    assert np.abs(found / wanted - 1).max() < 3e-7
    # The bound that the docstring states.
    assert np.abs(found / wanted - 1).max() <= (31 + max(math.ceil(math.log2(count / 32)), 0)) * 2.0**-24


def test_what_is_beyond_float32_and_what_is_no_number():
    inf, nan = np.inf, np.nan
    x = np.array([inf, -inf, nan, 1000, -1000, 0, -1], np.float32)
    expected = {
        "exp": [inf, 0, nan, inf, 0, 1, None],
        "log": [inf, nan, nan, None, nan, -inf, nan],
        "sqrt": [inf, nan, nan, None, nan, 0, nan],
        "sigmoid": [1, 0, nan, 1, 0, 0.5, None],
        "tanh": [1, -1, nan, 1, -1, 0, None],
        "expm1": [inf, -1, nan, inf, -1, 0, None],
        "log1p": [inf, nan, nan, None, nan, 0, -inf],
        "softplus": [inf, 0, nan, 1000, 0, None, None],
        "erfc": [0, 2, nan, 0, 2, 1, None],
        "erf": [1, -1, nan, 1, -1, 0, None],
    }
    for name, wanted in expected.items():
        found = getattr(fm, name)(x)
        for value, want in zip(found, wanted):
            assert want is None or np.array_equal(value, np.float32(want), equal_nan=True), name
