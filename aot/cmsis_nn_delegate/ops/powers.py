"""Powers of two with negative exponents, by a table and the lines between its entries."""

from __future__ import annotations

import numpy as np

ARGUMENT_BITS = 16  # of arguments after the point
RESULT_BITS = 15  # of results
_STEPS = 6  # of the table, in bits


def power_table() -> np.ndarray:
    """uint16 [65]: 2^(-i / 64) in 15 bits after the point. A line between two entries is at most 2^-16 above it."""
    return np.rint(2.0 ** (RESULT_BITS - np.arange((1 << _STEPS) + 1) / (1 << _STEPS))).astype(np.uint16)


_TABLE = power_table().astype(np.int64)


def negative_power(x: np.ndarray) -> np.ndarray:
    """Returns 2^(-x * 2^-16) in [0, 32768] * 2^-15 of int64 numbers that are not negative; halves are rounded up."""
    rest = ARGUMENT_BITS - _STEPS
    index, between = (x >> rest) & ((1 << _STEPS) - 1), x & ((1 << rest) - 1)
    line = (_TABLE[index] << rest) - between * (_TABLE[index] - _TABLE[index + 1])
    shift = np.minimum(x >> ARGUMENT_BITS, RESULT_BITS + 2) + rest
    found: np.ndarray = (line + (np.int64(1) << shift - 1)) >> shift
    return found
