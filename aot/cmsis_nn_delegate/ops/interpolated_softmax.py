"""Softmax of int16 as TensorFlow Lite Micro computes it: with tables of exponentials and reciprocals, of which results
are interpolated. Only what is `REACH` or more below the maximum differs: there each such element adds 2/32768, which in
a row of 100 makes a clear winner less exact than in int8; here it adds nothing.

[SoftmaxInt16, kernels/internal/reference/softmax.h; LUTPopulate and LUTLookup, kernels/internal/common.h]
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .function_table import interpolated
from .quantized_math import leading_zeros, quantize_multiplier, requantize

# Differences to the maximum of a row from 0 to this have exponentials.
REACH = 10.0
_CELLS = 512
_MOST = 2**15 - 1


def _table(function: Callable[[np.ndarray], np.ndarray], low: float, high: float) -> np.ndarray:
    """int16 [513]: `function` between `low` and `high`, in 15 bits after the point, each entry moved by half of what a
    line to the next one misses in the middle; with all numbers in float32, as there."""
    step = np.float32((np.float32(high) - np.float32(low)) / np.float32(_CELLS))
    x = np.float32(low) + np.arange(_CELLS + 1, dtype=np.float32) * step
    scale = np.float32(_MOST + 1)
    at, middle = (function(points) * scale for points in (x, x[:-1] + step / 2))
    rounded = _rounded(at)
    missed = _rounded((at[1:] + rounded[:-1]) / 2) - _rounded(middle)
    rounded[:-1] -= _rounded(missed / 2)
    entries: np.ndarray = np.clip(rounded, -_MOST - 1, _MOST).astype(np.int16)
    return entries


def _rounded(x: np.ndarray) -> np.ndarray:
    """To nearest, halves away from zero."""
    nearest: np.ndarray = np.copysign(np.floor(np.abs(x) + np.float32(0.5)), x)
    return nearest


EXPONENTIALS = _table(np.exp, -REACH, 0.0)
EXPONENTIALS[0] = 0  # also of all numbers further below
RECIPROCALS = _table(lambda x: 1 / (1 + x), 0.0, 1.0)


def scaling(scale: float) -> tuple[int, int]:
    """Returns (mantissa, shift) of the factor from steps of the input to 1/65535 of `REACH`. ValueError if it is too
    large for the kernel."""
    multiplier, shift = quantize_multiplier(scale / (REACH / 65535.0))
    if shift > MAX_SHIFT:
        raise ValueError(f"input scale {scale:g} is too large for softmax in int16")
    return multiplier, shift


# A difference of two int16 numbers, shifted by so many bits, has 32.
MAX_SHIFT = 15


def probabilities(data: np.ndarray, multiplier: int, shift: int) -> np.ndarray:
    """Returns the softmax of each row of int16 `data`, in 15 bits after the point, as int16."""
    data = data.astype(np.int64)
    scaled = requantize(data - data.max(axis=1, keepdims=True), multiplier, shift)
    exponentials = interpolated(EXPONENTIALS, np.clip(scaled + _MOST, -_MOST - 1, _MOST))
    total = exponentials.sum(axis=1, keepdims=True)  # at least that of the maximum, 2^15 - 1
    headroom = leading_zeros(total)
    # From 2^16 to 2^17: 1 + x, of which x, from 0 to 1, has the numbers of a table.
    normalized = ((total << (headroom - 1)) + (1 << 13)) >> 14
    inverse = interpolated(RECIPROCALS, np.clip(normalized - (3 << 15), -_MOST - 1, _MOST))
    places = 31 - headroom
    results = (exponentials * inverse + (np.int64(1) << (places - 1))) >> places
    limited: np.ndarray = np.clip(results, 0, _MOST).astype(np.int16)
    return limited
