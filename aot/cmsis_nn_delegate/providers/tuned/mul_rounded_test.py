"""Two multiplications that round give what the operator gives for every product."""

from __future__ import annotations

import numpy as np
import pytest

from cmsis_nn_delegate.ops.quantized_math import requantize
from cmsis_nn_delegate.providers.tuned.mul_rounded import SHIFTS, unit

LARGEST = 255 * 255
PRODUCTS = np.arange(-LARGEST, LARGEST + 1, dtype=np.int64)
# The least and the largest, those next to a simple fraction, and any.
MULTIPLIERS = (1 << 30, (1 << 31) - 1, 0x55555555, 0x66666666, *np.random.default_rng(0).integers(1 << 30, 1 << 31, 20))


def with_dsp(products: np.ndarray, multiplier: int, factor: int) -> np.ndarray:
    """What two SMMLAR compute, whose operands have to fit in 32 bits."""
    doubled, twice = 2 * multiplier - (1 << 32), 2 * factor
    assert -(1 << 31) <= doubled < 0 < twice < 1 << 31
    scaled = products + (products * doubled + (1 << 31) >> 32)
    return scaled * twice + (1 << 31) >> 32


def with_mve(products: np.ndarray, multiplier: int, factor: int) -> np.ndarray:
    """What two VQRDMULH compute."""
    scaled = 2 * products * multiplier + (1 << 31) >> 32
    return 2 * scaled * factor + (1 << 31) >> 32


@pytest.mark.parametrize("shift", SHIFTS)
def test_every_result_is_right(shift):
    for multiplier in map(int, MULTIPLIERS):
        wanted = requantize(PRODUCTS, multiplier, -shift)
        for computed in (with_dsp, with_mve):
            assert (computed(PRODUCTS, multiplier, unit(shift)) == wanted).all()


def test_halves_need_more_than_the_power_of_two():
    """Half of the results of these numbers lie halfway between two others."""
    wanted = requantize(PRODUCTS, 1 << 30, -2)
    assert (with_mve(PRODUCTS, 1 << 30, unit(2) - 1) != wanted).any()


def test_results_fit_in_16_bits():
    """With any zero point and 128 added, as the kernels for DSP do."""
    assert np.abs(with_dsp(PRODUCTS, (1 << 31) - 1, unit(SHIFTS[0]))).max() + 255 < 1 << 15
