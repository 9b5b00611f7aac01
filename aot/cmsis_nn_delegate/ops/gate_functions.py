"""The functions of gates, of 16-bit integers: sigmoid and tanh as TensorFlow Lite and CMSIS-NN compute them.

Both interpolate one table of the sigmoid between 0 and 255 / 24, with tanh(x) = 2 sigmoid(2 x) - 1.
"""

from __future__ import annotations

import numpy as np

# Arguments have so many bits after the point: they lie in [-8, 8).
ARGUMENT_BITS = 12
# Results have so many.
RESULT_BITS = 15


def sigmoid_table() -> np.ndarray:
    """uint16 [256]: sigmoid(i / 24) in 16 bits after the point, as in CMSIS-NN's sigmoid_table_uint16. Each entry is
    moved by half of what a line between it and the next one misses in the middle, which halves the error of
    interpolation."""
    points = np.arange(513) / 48
    values = 65536 / (1 + np.exp(-points))
    at, between, after = values[:-1:2], values[1::2], values[2::2]
    table = np.rint(at + (between - (at + after) / 2) / 2)
    table[-1] = 65535  # nothing follows it: larger arguments give 1
    return table.astype(np.uint16)


_TABLE = sigmoid_table().astype(np.int64)


def sigmoid(x: np.ndarray) -> np.ndarray:
    """Returns sigmoid(x * 2^-12) in [0, 32768) * 2^-15 of int16 numbers [arm_nn_activation_s16, ARM_SIGMOID]."""
    scaled = x.astype(np.int64) * 3
    result = _interpolated(np.abs(scaled), 9)
    result = np.where(scaled >= 0, result + (1 << 9), (1 << 25) - result + (1 << 9) - 1)
    return result >> 10


def tanh(x: np.ndarray, bits: int = ARGUMENT_BITS) -> np.ndarray:
    """Returns tanh(x * 2^-bits) in (-32768, 32768) * 2^-15 of int16 numbers, with `bits` in [0, 15]
    [arm_nn_activation_s16, ARM_TANH, with left_shift = 12 - bits]."""
    shift = ARGUMENT_BITS - bits
    scaled = x.astype(np.int64) * 3
    scaled = scaled << shift if shift >= 0 else (scaled + (1 << (-shift - 1))) >> -shift
    result = _interpolated(np.abs(scaled), 8)
    result = np.where(scaled >= 0, result - (1 << 23) + (1 << 7), -result + (1 << 23) + (1 << 7) - 1)
    return result >> 8


def _interpolated(magnitude: np.ndarray, bits: int) -> np.ndarray:
    """Returns the table's value at magnitude / 2^bits, times 2^bits."""
    index = magnitude >> bits
    low = np.minimum(index, 254)
    start, step = _TABLE[low], _TABLE[low + 1] - _TABLE[low]
    saturated = 0x7FFF << 10 if bits == 9 else 0xFFFF << 8
    return np.where(index >= 255, saturated, (start << bits) + (magnitude & ((1 << bits) - 1)) * step)
