"""Spectra in fixed point are those of real numbers, but for the noise of factors of 16 bits, and never overflow."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.ops import spectrum
from cmsis_nn_delegate.ops.logarithms import LOG_BITS, log2

LARGEST = 2**30


def spectra(numbers):
    """Returns the spectrum in fixed point and that of real numbers, divided by the length."""
    real, imaginary = spectrum.scaled_spectrum(numbers.astype(np.int64), spectrum.factors(numbers.shape[-1]))
    return real + 1j * imaginary, np.fft.rfft(numbers) / numbers.shape[-1]


@pytest.mark.parametrize("length", spectrum.LENGTHS)
@pytest.mark.parametrize("bits", [15, 22, 30])
def test_a_spectrum_of_noise_has_the_bins_of_real_numbers(length, bits):
    numbers = np.random.default_rng(length + bits).integers(-(2**bits), 2**bits + 1, (4, length))
    found, expected = spectra(numbers)
    error = np.sqrt(np.mean(np.abs(found - expected) ** 2))
    size = np.sqrt(np.mean(np.abs(expected) ** 2))
    # Of the factors, and half a step for each of the stages.
    assert error <= size * 2.0**-14 + 2


@given(length=st.sampled_from(spectrum.LENGTHS), seed=st.integers(0, 2**32 - 1), kind=st.sampled_from(range(4)))
@settings(max_examples=60, deadline=None)
def test_the_largest_numbers_fit(length, seed, kind):
    """The kernel has 32 bits, in which these must not wrap around: bins in the worst case, and sums of the stages."""
    random = np.random.default_rng(seed)
    numbers = {
        0: np.full(length, LARGEST),
        1: LARGEST * (1 - 2 * (np.arange(length) % 2)),
        2: LARGEST * random.choice([-1, 1], length),
        3: np.rint(LARGEST * np.cos(np.arange(length) * random.uniform(0, np.pi))),
    }[kind]
    found, expected = spectra(np.asarray(numbers))
    assert max(np.abs(found.real).max(), np.abs(found.imag).max()) < 2**31
    assert np.abs(found - expected).max() <= LARGEST * 2.0**-13


def test_the_energies_of_a_frame_are_at_most_the_mean_of_squares():
    """Which the operator needs, so that sums of them have 63 bits."""
    for length in spectrum.LENGTHS:
        found, _ = spectra(LARGEST * (1 - 2 * (np.arange(length) % 2)))
        assert (np.abs(found) ** 2).sum() <= 1.001 * LARGEST**2


@given(st.integers(0, 2**62))
@settings(max_examples=300)
def test_square_roots_have_16_bits(number):
    found = int(spectrum.square_root(np.array([number], np.int64))[0])
    shift = 0
    while number >> 2 * shift >= 1 << 32:
        shift += 1
    assert found == math.isqrt(number >> 2 * shift) << shift


@given(st.one_of(st.integers(1, 2**64 - 1), st.integers(0, 63).map(lambda bits: 2**bits)))
@settings(max_examples=300)
def test_logarithms_of_64_bits(number):
    """One below a power of two has the logarithm that is a bit below it, though float64 rounds it up."""
    for near in (number, max(number - 1, 1)):
        found = int(log2(np.array([near], np.uint64), 0)[0])
        assert found >> LOG_BITS == near.bit_length() - 1
        assert abs(found / 2**LOG_BITS - math.log2(near)) <= 2.0 ** (1 - LOG_BITS)
