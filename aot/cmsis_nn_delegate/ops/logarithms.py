"""Binary logarithms in fixed point, found bit by bit by squaring [Knuth, TAOCP 1.2.2]."""

from __future__ import annotations

import numpy as np

LOG_BITS = 20  # of logarithms, after the point


def log2(numbers: np.ndarray, point: int) -> np.ndarray:
    """Returns the logarithms, with `LOG_BITS` bits after the point, of positive int64 or uint64 that have `point` ones.
    Of a number, 32 bits count."""
    all_bits = numbers.astype(np.uint64)
    high = all_bits >> np.uint64(32)
    bits = np.where(high > 0, _bit_length(high) + 32, _bit_length(all_bits))
    left, right = (np.maximum(side, 0).astype(np.uint64) for side in (32 - bits, bits - 32))
    mantissa = np.where(bits <= 32, all_bits << left, all_bits >> right)
    result = bits - 1 - point
    for _ in range(LOG_BITS):
        square = mantissa * mantissa >> np.uint64(31)  # in [2^31, 2^33)
        carry = (square >> np.uint64(32)).astype(np.int64)
        mantissa = square >> carry.astype(np.uint64)
        result = 2 * result + carry
    return result


def _bit_length(numbers: np.ndarray) -> np.ndarray:
    """Of numbers below 2^53, which float64 holds."""
    found: np.ndarray = np.frexp(numbers.astype(np.float64))[1].astype(np.int64)
    return found
