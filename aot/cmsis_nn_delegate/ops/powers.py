"""Powers of two, by a table and the lines between its entries."""

from __future__ import annotations

import numpy as np

ARGUMENT_BITS = 16  # of arguments after the point
RESULT_BITS = 15  # of results
_STEPS = 6  # of the table, in bits
_REST = ARGUMENT_BITS - _STEPS
LONG_BITS = RESULT_BITS + _REST  # of results that are not rounded to those of the table


def power_table() -> np.ndarray:
    """uint16 [65]: 2^(-i / 64) in 15 bits after the point. A line between two entries is at most 2^-16 above it."""
    return np.rint(2.0 ** (RESULT_BITS - np.arange((1 << _STEPS) + 1) / (1 << _STEPS))).astype(np.uint16)


_TABLE = power_table().astype(np.int64)


def negative_power(x: np.ndarray) -> np.ndarray:
    """Returns 2^(-x * 2^-16) in [0, 32768] * 2^-15 of int64 numbers that are not negative; halves are rounded up."""
    shift = np.minimum(x >> ARGUMENT_BITS, RESULT_BITS + 2) + _REST
    found: np.ndarray = (_line(x) + (np.int64(1) << shift - 1)) >> shift
    return found


def long_negative_power(x: np.ndarray) -> np.ndarray:
    """Returns the same in [0, 2^25] * 2^-25, rounded down."""
    found: np.ndarray = _line(x) >> np.minimum(x >> ARGUMENT_BITS, LONG_BITS + 1)
    return found


def whole_power(x: np.ndarray) -> np.ndarray:
    """Returns 2^(x * 2^-16) of int64 numbers, rounded down to an integer; exponents above 32 count as 32."""
    x = np.minimum(x, 32 << ARGUMENT_BITS)
    exponent = -(-x >> ARGUMENT_BITS)  # rounded up
    line, shift = _line((exponent << ARGUMENT_BITS) - x), exponent - LONG_BITS
    found: np.ndarray = (line << np.maximum(shift, 0)) >> np.minimum(np.maximum(-shift, 0), LONG_BITS + 1)
    return found


def _line(x: np.ndarray) -> np.ndarray:
    """Returns 2^(-x * 2^-16) * 2^25 of the part of `x` that is after the point."""
    index, between = (x >> _REST) & ((1 << _STEPS) - 1), x & ((1 << _REST) - 1)
    line: np.ndarray = (_TABLE[index] << _REST) - between * (_TABLE[index] - _TABLE[index + 1])
    return line
