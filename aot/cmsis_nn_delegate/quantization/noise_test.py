import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from cmsis_nn_delegate.quantization.comparison.noise import Noise


def noise_of(*pairs):
    noise = Noise()
    for wanted, found in pairs:
        noise.add(wanted, found)
    return noise


def test_formulas():
    wanted, found = torch.tensor([3.0, 4.0]), torch.tensor([3.0, 3.5])
    noise = noise_of((wanted, found))
    assert noise.sqnr == pytest.approx(10 * math.log10(25 / 0.25))
    assert noise.cosine == pytest.approx(23 / (5 * math.hypot(3, 3.5)))


@given(st.integers(1, 60), st.integers(0, 2**31))
def test_parts_add_up(count, seed):
    wanted = torch.randn(count, generator=torch.Generator().manual_seed(seed))
    found = (wanted * 8).round() / 8
    at = count // 2
    parts, whole = noise_of((wanted[:at], found[:at]), (wanted[at:], found[at:])), noise_of((wanted, found))
    assert parts.noise == pytest.approx(whole.noise) and parts.product == pytest.approx(whole.product)


def test_limits():
    zero, one = torch.zeros(2), torch.ones(2)
    assert (noise_of((one, one)).sqnr, noise_of((one, one)).cosine) == (math.inf, pytest.approx(1.0))
    assert (noise_of((zero, zero)).sqnr, noise_of((zero, zero)).cosine) == (math.inf, 1.0)
    assert (noise_of((zero, one)).sqnr, noise_of((zero, one)).cosine) == (-math.inf, 0.0)
    assert noise_of((one, zero)).sqnr == 0.0


def test_what_cannot_be_compared_is_left_out():
    one = torch.ones(2)
    empty = noise_of((torch.tensor([1, 2]), torch.tensor([1, 3])), (one, torch.ones(3)), (None, one))
    assert empty == Noise()
    assert noise_of((torch.tensor([1.0, math.inf]), torch.tensor([0.5, 9.0]))) == noise_of((one[:1], one[:1] / 2))
