"""Ways to turn a 32-bit sum into int8 with fewer instructions than `quantized_math.requantize`.

Each is equal to it for all sums up to a size; `form_of` says which one a node may use. With P = 2^31 * multiplier as
in `requantize`, s = -shift and z the zero point of the output:

FLOOR, where the clamp ends at the least int8 and that is z (a ReLU), 3 instructions on cores with DSP:

    LSL sum, L;  SMMLA sum * P + correction;  SSAT #8, ASR #12         L = 13 - s

`requantize` rounds halves away from zero and this rounds them up, which differs for results below zero only, and all
of these are clamped. The first of its two roundings is part of the correction.

Proof. For a sum x, `requantize` is floor((a + 2^(s-1) - [a < 0]) / 2^s) with a = floor((x P + 2^30) / 2^31), where [c]
is 1 if c and else 0. For a >= 0, nested floors are one: floor((x P + 2^30 + 2^(30+s)) / 2^(31+s)), and multiplied by
2^L above and below, floor((x P 2^L + (2^(L-2) + 2^11) 2^32) / 2^44), the sum in SMMLA before its two shifts; z = -128
is -128 * 2^12 more in the correction. For a < 0 both are at most 0 before z is added, so that both are clamped to z.
For s <= 0 there is only the first rounding: 2^11 instead of the two.

ANY, for all other zero points and clamps, 5 instructions and the clamp:

    LSL sum, 1;  SMMLAR sum * P + correction;  ADD sign of the sum;  ASR s;  SSAT #8

Proof. With the correction 2^(s-1) + z 2^s, what is shifted is a + 2^(s-1) + z 2^s - [x < 0]. That differs from
`requantize` in [x < 0] for [a < 0] only: P >= 0, so that they differ for x < 0 and a = 0 alone, where
floor((2^(s-1) - 1) / 2^s) and floor(2^(s-1) / 2^s) are both 0 for s >= 1.
"""

from __future__ import annotations

import enum
from typing import Union

import numpy as np

from ...graph.ir import Node
from ...ops import per_channel_requantize
from ...ops.quantized_math import INT32_MIN

FLOOR_BITS = 12  # of the fraction that SSAT #8, ASR #12 drops
# Per channel, in the order of a table.
WORDS = 3
PACKED_WORDS = 2


class Form(enum.IntEnum):
    """How sums are requantized; the values are those of the field `form` of argument blocks."""

    ANY = 0
    FLOOR = 1


def sum_limits(node: Node, weights: np.ndarray, bias: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns the least and the largest sum of each channel for any inputs; int64 [channels].

    `weights` is [channels, ...], without the zero point of the input, which is the value of padding.
    """
    x = node.inputs[0]
    flat = weights.reshape(len(weights), -1)
    low, high = x.element.low - x.zero_point, x.element.high - x.zero_point
    negative, positive = (f(flat, np.int8(0)).sum(1, dtype=np.int64) for f in (np.minimum, np.maximum))
    least = bias + positive * low + negative * high
    most = bias + positive * high + negative * low
    return np.asarray(least), np.asarray(most)


def largest_sums(node: Node, weights: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """Returns the largest absolute value of each channel's sum; see `sum_limits`."""
    least, most = sum_limits(node, weights, bias)
    return np.asarray(np.maximum(most, -least))


def form(node: Node, weights: np.ndarray) -> Form:
    """Returns the cheapest form that is exact for every channel of a convolution or linear layer with `weights`,
    [channels, ...]. ValueError says why there is none."""
    return form_of(node, largest_sums(node, weights, node.inputs[2].constant.astype(np.int64)))


def why_none(node: Node, weights: np.ndarray) -> str:
    """Returns why `form` has none, "" if it has one."""
    try:
        form(node, weights)
    except ValueError as error:
        return str(error)
    return ""


def form_of(node: Node, largest: np.ndarray) -> Form:
    """Returns the cheapest form that is exact for every channel of `node`, whose sums are at most `largest`.

    ValueError says why there is none.
    """
    _check_sums(largest)
    _, shift = _scales(node)
    if _takes_floor(node, largest, shift).all():
        return Form.FLOOR
    check_shifts(largest, shift)
    return Form.ANY


def forms_of(node: Node, largest: np.ndarray) -> np.ndarray:
    """Returns the cheapest `Form` for each channel of `node`. ValueError as for `form_of`."""
    _check_sums(largest)
    _, shift = _scales(node)
    floor = _takes_floor(node, largest, shift)
    check_shifts(largest[~floor], shift[~floor])
    return np.where(floor, Form.FLOOR, Form.ANY)


def _check_sums(largest: np.ndarray) -> None:
    if (np.abs(largest) > -INT32_MIN - 1).any():
        raise ValueError("a sum may exceed 32 bits")


def check_any(node: Node, largest: np.ndarray, channels: np.ndarray) -> None:
    """Raises ValueError if ANY is not exact for one of `channels`, bool, whose sums are at most `largest`."""
    _check_sums(largest)
    _, shift = _scales(node)
    check_shifts(largest[channels], shift[channels])


def check_shifts(largest: np.ndarray, shift: np.ndarray) -> None:
    """Raises ValueError if ANY is not exact for a channel with sums up to `largest` and the shift `shift`."""
    if (shift > -1).any():
        raise ValueError("an output channel has finer steps than its sums, half of them or less")
    if (shift < -22).any():
        raise ValueError("an output channel is scaled down by more than 2^22")
    if (largest >= 1 << 30).any():
        raise ValueError("a sum may exceed 31 bits")


def _scales(node: Node) -> tuple[np.ndarray, np.ndarray]:
    """Returns int64 multipliers and shifts; where a multiplier is 0, whose shift does not matter, one that fits."""
    multiplier, shift = per_channel_requantize.output_multipliers(node)
    return multiplier.astype(np.int64), np.where(multiplier == 0, 1 - FLOOR_BITS, shift).astype(np.int64)


def _takes_floor(node: Node, largest: np.ndarray, shift: np.ndarray) -> np.ndarray:
    """Whether each channel does; bool."""
    if node.output.zero_point != -128 or node.attrs.clamp.limits(node.output.type):
        return np.zeros(len(shift), bool)
    left = FLOOR_BITS + 1 + shift
    fits = (left >= 2) & (left <= FLOOR_BITS + 2)
    return np.asarray(fits & (largest << np.clip(left, 0, 31) < 1 << 31))


def packed(node: Node, form: Form) -> np.ndarray:
    """Returns int32 [channels, PACKED_WORDS], for kernels that requantize each channel seldom: `table` in two words,
    (shift + 2^8 * value, multiplier). The value is the correction of FLOOR. Of ANY it is the correction without its
    shift - 1 lowest bits, which are 0: 2 * zero point + 1.
    """
    shift, multiplier, correction = table(node, form).T.astype(np.int64)
    value = correction if form is Form.FLOOR else np.full_like(shift, 2 * node.output.zero_point + 1)
    return np.stack([shift + (value << 8), multiplier], axis=1).astype(np.int32)


def table(node: Node, form: Union[Form, np.ndarray]) -> np.ndarray:
    """Returns int32 [channels, WORDS]: shift, multiplier and correction of each channel, for one form or for that
    of each."""
    multiplier, shift = _scales(node)
    zero_point = node.output.zero_point
    right = np.maximum(-shift, 0)
    half = np.where(right > 0, 1 << np.maximum(right - 1, 0), 0)
    any_form = np.stack([right, multiplier, half + (zero_point << right)], axis=1)
    # 2^(-shift - 1) in units of the fraction, as the second rounding adds it, and half a step of the first.
    second = np.where(right > 0, 1 << (FLOOR_BITS - 1), 0)
    first = np.where(right > 0, 1 << np.maximum(FLOOR_BITS - 1 - right, 0), 1 << (FLOOR_BITS - 1))
    correction = first + second + (zero_point << FLOOR_BITS)
    floor = np.stack([FLOOR_BITS + 1 + shift, multiplier, correction], axis=1)
    is_floor = np.broadcast_to(form, right.shape)[:, None] == Form.FLOOR
    return np.where(is_floor, floor, any_form).astype(np.int32)
