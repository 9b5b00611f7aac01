"""Largest differences and values, of tensors that have NaN and infinities too."""

from __future__ import annotations

import math

import hypothesis.strategies as st
import torch
from hypothesis import given

from cmsis_nn_delegate.quantization.comparison.running import difference, extent

_NUMBERS = st.sampled_from([0.0, -0.0, 1.0, -1.5, 3e38, -3e38, math.inf, -math.inf, math.nan])
_PAIRS = st.lists(st.tuples(_NUMBERS, _NUMBERS), max_size=6)


def _largest(values: list[float]) -> float:
    return math.nan if any(map(math.isnan, values)) else max(values, default=0.0)


@given(_PAIRS)
def test_difference_counts_what_is_finite_in_the_second(pairs: list[tuple[float, float]]) -> None:
    a, b = torch.tensor(pairs).reshape(-1, 2).unbind(1)
    expected = _largest([float(d) for d, y in zip((a - b).abs(), b) if math.isfinite(y)])
    found = difference(a, b)
    assert found == expected or math.isnan(found) and math.isnan(expected)


@given(st.lists(_NUMBERS, max_size=6))
def test_extent_leaves_out_what_is_not_finite(values: list[float]) -> None:
    assert extent(torch.tensor(values)) == _largest([abs(float(x)) for x in torch.tensor(values) if math.isfinite(x)])
