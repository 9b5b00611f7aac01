"""Softmax of int16, with exponentials that are powers of two (`powers`).

An exponential is summed with 25 bits after the point, so that a row of thousands counts also what is 18 below its
maximum, and divided as a number of 15 bits. TensorFlow Lite Micro's has 15 bits in the sum as well: there, what is 8 to
10 below the maximum is off by up to a step of 2 to 11, and what is further below counts as 2 each.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..format.record import I32, Field
from ..graph.tensor_type import Element, Quant
from .powers import ARGUMENT_BITS, LONG_BITS, RESULT_BITS, long_negative_power
from .quantized_math import one_over_one_plus_x

OUTPUT = Quant((2.0**-RESULT_BITS,), 0)
# So that the reciprocal of a sum of exponentials has at most 31 places.
MAX_ROW = 65535
# An exponential of so many octaves below the maximum is 0 in every sum.
_OCTAVES = LONG_BITS + 1
_FARTHEST = 2**16 - 1  # difference of two int16 numbers
_MOST_SHIFT = 30
_MULTIPLIER_BITS = 15
# A step of the input of so many octaves: only the maximum counts.
_LARGEST = 32 << ARGUMENT_BITS


class Scaling(NamedTuple):
    """How a difference of int16 numbers becomes octaves, in steps of 2^-16: times multiplier * 2^-shift."""

    multiplier: int
    shift: int
    reach: int  # larger differences contribute nothing


SCALING_FIELDS = (
    Field("multiplier", I32, "of differences, to octaves in steps of 2^-16", low=0, high=_LARGEST),
    Field("shift", I32, "of the product, to the right", low=0, high=_MOST_SHIFT),
    Field(
        "reach",
        I32,
        f"larger differences to the maximum contribute nothing; those up to it have less than {_OCTAVES} octaves",
        low=0,
        high=_FARTHEST,
    ),
)
# The check that the octaves of `reach` are in their range.
VALUES = "powers"


def scaling(scale: float) -> Scaling:
    """Returns how differences in steps of `scale` are scaled. Their octaves are within 2^-15 of themselves, and half a
    step."""
    real = scale / math.log(2) * 2.0**ARGUMENT_BITS
    shift = min(max(_MULTIPLIER_BITS - math.frexp(real)[1], 0), _MOST_SHIFT)
    multiplier = min(round(real * 2.0**shift), _LARGEST)
    half = (1 << shift) >> 1
    limit = (_OCTAVES << ARGUMENT_BITS + shift) - 1 - half
    return Scaling(multiplier, shift, min(limit // max(multiplier, 1), _FARTHEST))


def exponentials(data: np.ndarray, scaling: Scaling, hidden: np.ndarray) -> np.ndarray:
    """Returns the exponentials, with 25 bits after the point, of how far each element of rows of int16 is below the
    maximum of those that are not `hidden`; these have 0."""
    data = data.astype(np.int64)
    below = np.where(hidden, Element.INT16.low, data).max(axis=1, keepdims=True) - data
    counts = (below <= scaling.reach) & ~hidden
    octaves = np.where(counts, below, 0) * scaling.multiplier + ((1 << scaling.shift) >> 1) >> scaling.shift
    return np.where(counts, long_negative_power(octaves), 0)


def probabilities(data: np.ndarray, scaling: Scaling, hidden: np.ndarray) -> np.ndarray:
    """Returns the softmax of each row of int16 `data` over its elements that are not `hidden`, in 15 bits after the
    point, as int16; the others become 0."""
    powers = exponentials(data, scaling, hidden)
    total = np.maximum(powers.sum(axis=1, keepdims=True), 1 << LONG_BITS)  # of a row that is hidden, too
    octave = np.frexp(total.astype(np.float64))[1].astype(np.int64) - 1 - LONG_BITS  # exact: sums are below 2^42
    # total = (1 + x) * 2^octave
    bits = octave + LONG_BITS
    x = np.where(bits <= 31, total << np.maximum(31 - bits, 0), total >> np.maximum(bits - 31, 0)) - (1 << 31)
    inverse = (one_over_one_plus_x(x) + (1 << 14)) >> 15  # 16 bits after the point
    rest = LONG_BITS - RESULT_BITS
    rounded = (powers + (1 << rest - 1)) >> rest
    places = 16 + octave
    results = (rounded * inverse + (np.int64(1) << places - 1)) >> places
    limited: np.ndarray = np.minimum(results, Element.INT16.high).astype(np.int16)
    return limited
