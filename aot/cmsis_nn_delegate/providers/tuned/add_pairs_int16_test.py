"""What the instructions make of sums of int16 is what the reference makes of them."""

from __future__ import annotations

import numpy as np
import pytest

from cmsis_nn_delegate.format.element import Element
from cmsis_nn_delegate.ops.add import Arithmetic
from cmsis_nn_delegate.ops.quantized_math import quantize_multiplier, requantize
from cmsis_nn_delegate.providers.tuned.add_pairs_int16 import PairSum, pair_sum

INPUTS = np.arange(-32768, 32768)
LIMITS = -32768, 32767


def arithmetic_of(a: float, b: float, output: float) -> Arithmetic:
    """Scales of a, b and the output; that of b, or of a, is negative for a difference."""
    twice = 2 * max(abs(a), abs(b))
    multipliers = []
    for scale in (a, b):
        mantissa, shift = quantize_multiplier(abs(scale) / twice)
        multipliers.append((mantissa if scale > 0 else -mantissa, shift))
    multipliers.append(quantize_multiplier(twice / (2.0**15 * output)))
    return Arithmetic((0, 0, 0), tuple(multipliers), LIMITS, Element.INT16)


def high(product: np.ndarray) -> np.ndarray:
    """The upper word of a product, rounded as SMMULR rounds it."""
    return (product + (1 << 31)) >> 32


def nudged(x: np.ndarray) -> np.ndarray:
    return x + (x >> 31)


def finer(numbers: PairSum, b: np.ndarray) -> np.ndarray:
    """What is added to the product of the operand with the larger scale."""
    assert abs(numbers.multiplier) < 1 << 31 and -(1 << 31) <= numbers.unit < 0
    return high(-nudged(high((b << 16) * numbers.multiplier)) * numbers.unit)


def rescaled(numbers: PairSum, total: np.ndarray) -> np.ndarray:
    assert -(1 << 31) <= numbers.output_multiplier < 0 < numbers.output_unit < 1 << 31
    product = high(total * numbers.output_multiplier) + nudged(total)
    return np.clip(high(product * numbers.output_unit), *LIMITS)


RATIOS = [1.0, 0.999999, 0.7, 0.5, 0.33, 0.25, 2.0**-7, 0.011, 1.3e-4, 2.0**-20, 3e-9, 1e-12]


@pytest.mark.parametrize("ratio", [*RATIOS, *(-ratio for ratio in RATIOS)])
def test_every_input_is_brought_to_the_larger_scale_as_the_reference_does(ratio):
    for swapped in (False, True):
        scales = (ratio, 1.0) if swapped else (1.0, ratio)
        arithmetic = arithmetic_of(*scales, 1.0)
        numbers = pair_sum(arithmetic)
        larger, smaller = arithmetic.multipliers[:2][:: -1 if swapped and abs(ratio) != 1 else 1]
        wanted = requantize(INPUTS << 15, *larger)
        assert (INPUTS * numbers.factor == wanted).all()
        assert (finer(numbers, INPUTS) == requantize(INPUTS << 15, *smaller)).all()


@pytest.mark.parametrize("output", [2.0**-11, 0.3, 0.5, 1.0, 1.37, 2.0, 4.0, 7.7, 2.0**15, 2.0**17])
def test_every_kind_of_sum_is_rounded_as_the_reference_does(output):
    """Sums next to the middle of two results, to 0 and to the limits, and any other ones."""
    arithmetic = arithmetic_of(1.0, 0.7, output)
    numbers = pair_sum(arithmetic)
    mantissa, shift = arithmetic.multipliers[2]
    results = np.concatenate([np.arange(-40000, 40000), [0, *LIMITS]])
    middles = (2 * results + 1) * 2.0 ** (30 - shift) / mantissa
    middles = middles[np.abs(middles) < 1 << 30].astype(np.int64)
    near = (middles[:, None] + np.arange(-4, 5)).ravel()
    random = np.random.default_rng(3).integers(-(1 << 30), (1 << 30) + 1, 200_000)
    sums = np.concatenate([near, random, np.arange(-2000, 2001), [-(1 << 30), 1 << 30]])
    wanted = np.clip(requantize(sums, mantissa, shift), *LIMITS)
    assert (rescaled(numbers, sums) == wanted).all()


def test_sums_of_both():
    random = np.random.default_rng(5)
    for scales in ((1.0, 0.7, 1.2), (0.3, -1.0, 0.9), (1.0, 1.0, 2.0), (1.0, -0.5, 1.0)):
        arithmetic = arithmetic_of(*scales)
        numbers = pair_sum(arithmetic)
        a, b = random.integers(-32768, 32768, (2, 100_000))
        larger, smaller = (b, a) if numbers.swapped else (a, b)
        assert (rescaled(numbers, larger * numbers.factor + finer(numbers, smaller)) == arithmetic.sum(a, b)).all()
