"""Ways to turn a 32-bit sum into int16 with fewer instructions than `quantized_math.requantize`.

They are equal to it for all sums, as they round sum * P in 64 bits, except one. With P = 2^31 * multiplier as in
`requantize` and s = -shift, which has to be 2 or more:

FLOOR, where the clamp is that of a ReLU, 5 instructions on cores with DSP:

    SMLAL (2^(s - 2) : 2^30) + sum * P;  ASR s - 1 of the upper word;  USAT #15

The two words that are added are 2^30, half a step of the first rounding, and 2^(s + 30), half a step of the second one.
`requantize` rounds halves away from zero in the second, and this rounds them up, which differs for results below zero
only, and all of these are clamped. No carry from the lower word is lost, so the floor of the whole is the same as that
of `requantize` after its first rounding.

FLOOR in one word, for kernels without the registers for two, where sums stay below 2^29:

    LSL sum, 2;  SMMLA sum * P + 2^s + 1;  ASR s + 1;  USAT #15

ANY, for all other clamps, where 2^31 less is added for a negative sum, 7 instructions and the clamp:

    ADD, AND, ORR;  SMLAL;  ASR s - 1;  SSAT #16
"""

from __future__ import annotations

import numpy as np

from ...graph.ir import Node
from ...ops import per_channel_requantize
from .requantization import Form

_LEAST_SHIFT = 2  # to the right


def why_none(node: Node) -> str:
    """Returns why no form is exact for a convolution or linear layer of int16, "" if one is."""
    multiplier, shift = per_channel_requantize.output_multipliers(node)
    if (shift[multiplier != 0] > -_LEAST_SHIFT).any():
        return "an output channel has finer steps than its sums, or less than four times as large ones"
    return ""


def form(node: Node) -> Form:
    """Returns the cheapest form that is exact for every channel."""
    low, high = node.attrs.clamp.quantized(node.output.type)
    return Form.FLOOR if (low, high) == (0, node.output.element.high) else Form.ANY


def table(node: Node) -> np.ndarray:
    """Returns int32 [channels, WORDS]: shift, multiplier and correction of each channel, for both forms."""
    multiplier, shift = per_channel_requantize.output_multipliers(node)
    # Where a multiplier is 0, its shift does not matter.
    right = np.where(multiplier == 0, _LEAST_SHIFT, -shift).astype(np.int64)
    return np.stack([right - 1, multiplier, 1 << (right - 2)], axis=1).astype(np.int32)


def forms_in_one_word(node: Node, largest: np.ndarray) -> np.ndarray:
    """Returns the cheapest `Form` for each channel, whose sums are at most `largest`, if FLOOR is that in one word."""
    right = table(node)[:, 0] + 1
    floor = (form(node) is Form.FLOOR) & (largest < 1 << 29) & (right <= 22)
    return np.where(floor, Form.FLOOR, Form.ANY)


def packed(node: Node) -> np.ndarray:
    """Returns int32 [channels, PACKED_WORDS], for kernels that requantize each channel seldom: `table` without the
    correction, which follows from the shift."""
    return table(node)[:, :2]
