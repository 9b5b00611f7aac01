"""Requantization by one product, for cores without DSP.

With d = sum - first, limited to 0 <= d <= span, the result is

    result of `first` + (d * factor + constant) / 2^32                     rounded down

`first` is the least sum there is or, where the clamp cuts results off, the last one with the least result; `first +
span` is the largest sum, or the first one with the largest result. `constant` is a multiple of 2^8, so that cores
without long products compute the same with two short ones, in 32 bits with the result in the highest 8:

    d * (factor / 2^8) + d * (factor mod 2^8) / 2^8 + constant / 2^8 + (result of `first`) * 2^24

Where `requantize` has a multiplier of 31 bits and rounds twice, the factor has fewer bits the smaller the scale is, and
there is one rounding. So the compiler compares: between the first and the last, the sums at which the result changes
have to be those of `requantize`. They are after most ReLUs; where results lie on both sides of zero they are not,
because `requantize` rounds halves away from zero.
"""

from __future__ import annotations

import functools
from typing import NamedTuple

import numpy as np

from ...graph.ir import Node
from ...ops import per_channel_requantize
from ...ops.quantized_math import requantize, to_output

FRACTION_BITS = 32
LOW_BITS = 8  # of the factor, for the second product; of the constant, where they are 0
# Added to scale * 2^32, rounded down. Two roundings move the best factor by little more than one.
_CHANGES = (0, 1, -1, 2)
# So that neither a sum nor its distance from another one exceeds 32 bits.
_LARGEST_SUM = 1 << 30
_INT64_MAX = np.iinfo(np.int64).max


class Products(NamedTuple):
    """int64 [channels] each, except `exact`, bool [channels]: whether every result is that of `requantize`.

    `constant` is the one of the second formula, with the first result in its highest 8 bits.
    """

    first: np.ndarray
    span: np.ndarray  # less than 2^24
    factor: np.ndarray  # less than 2^31
    constant: np.ndarray
    exact: np.ndarray


def products(node: Node, least: np.ndarray, most: np.ndarray) -> Products:
    """Returns the products for a node with a multiplier for each channel, whose sums, int64 [channels], lie between
    `least` and `most`."""
    multiplier, shift = per_channel_requantize.output_multipliers(node)
    limits = node.attrs.clamp.quantized(node.output.type)
    arrays = (np.asarray(a, np.int64).tobytes() for a in (multiplier, shift, least, most))
    return _products(node.output.zero_point, limits, *arrays)


@functools.lru_cache(maxsize=64)
def _products(zero_point: int, limits: tuple[int, int], *arrays: bytes) -> Products:
    multiplier, shift, least, most = (np.frombuffer(a, np.int64) for a in arrays)
    # Results grow with sums where nothing is shifted to the left; the factor is less than 2^31 then.
    fits = (least > -_LARGEST_SUM) & (most < _LARGEST_SUM) & (shift < 0)
    least, most = np.where(fits, least, 0), np.where(fits, most, 0)

    def results(sums: np.ndarray) -> np.ndarray:
        return to_output(requantize(sums, multiplier, shift), zero_point, *limits).astype(np.int64)

    # The least sum that gives each result after the first one: int64 [results, channels].
    low, high = results(least), results(most)
    result = np.arange(limits[0] + 1, limits[1] + 1)[:, None]
    reached = (result > low) & (result <= high)
    before, at = np.broadcast_to(least, reached.shape), np.broadcast_to(most, reached.shape)
    for _ in range(int((most - least).max()).bit_length()):
        middle = (before + at) >> 1
        there = results(middle) >= result
        before, at = np.where(there, before, middle), np.where(there, middle, at)
    some = reached.any(0)
    first = np.where(reached, at - 1, _INT64_MAX).min(0, initial=_INT64_MAX)
    first = np.where(some & (low == limits[0]), first, least)
    last = np.where(reached, at, least).max(0, initial=-_INT64_MAX)
    last = np.where(some & (high == limits[1]), last, most)
    position = np.where(reached, at - first, 0)
    span = last - first

    step = np.where(reached, result - low << FRACTION_BITS, 0)
    scale = np.where(some, np.floor(multiplier * 2.0 ** (shift - 31 + FRACTION_BITS)), 0).astype(np.int64)
    factor, constant, exact = (np.zeros(len(first), np.int64) for _ in range(3))
    for change in _CHANGES:
        tried = np.maximum(scale + change, 0)
        # The constants with which every result begins where it should, and the last one does not end.
        smallest = np.where(reached, step - tried * position, 0).max(0, initial=0)
        end = np.where(reached, step - tried * (position - 1), _INT64_MAX).min(0, initial=_INT64_MAX)
        end = np.minimum(end, (high - low + 1 << FRACTION_BITS) - tried * span)
        middle = (smallest + end >> LOW_BITS + 1) << LOW_BITS
        right = (exact == 0) & fits & (span < 1 << 24) & (tried < 1 << 31) & (smallest <= middle) & (middle < end)
        factor, constant = np.where(right, tried, factor), np.where(right, middle, constant)
        exact |= right
    word = (constant >> LOW_BITS) + (low << FRACTION_BITS - LOW_BITS)
    return Products(first, span, factor, word, exact.astype(bool))
