"""Ways to turn a 32-bit sum into int16 with fewer instructions than `quantized_math.requantize`.

They are equal to it for all sums, as they round sum * P in 64 bits, except two. With P = 2^31 * multiplier as in
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

FINE, for any s up to 22, also below 0, where sums stay below 2^30, and below half of that for each step to the left;
with half a step for s > 0, and none else, 6 instructions and the clamp:

    LSL sum, 1 or more;  SMMLAR sum * P + half;  LSR sum, k;  SUB;  ASR s;  SSAT #16

`k` is 31, which leaves the sign of the sum, or for s <= 0, where nothing is rounded twice, 32, which leaves 0. With
weights of 4 bits, the steps of sums are so large that those of the output are hardly larger.
"""

from __future__ import annotations

import numpy as np

from ...graph.ir import Node
from ...ops import per_channel_requantize
from .requantization import Form, largest_sums

_LEAST_SHIFT = 2  # to the right
_MOST_FINE_SHIFT = 22


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


def why_not_fine(node: Node) -> str:
    """Returns why FINE is not exact for a convolution or linear layer of int16, "" if it is."""
    multiplier, shift = per_channel_requantize.output_multipliers(node)
    left, right = _fine_shifts(multiplier, shift)
    if (right > _MOST_FINE_SHIFT).any():
        return f"an output channel is scaled down by more than 2^{_MOST_FINE_SHIFT}"
    largest = largest_sums(node, node.inputs[1].constant, node.inputs[2].constant.astype(np.int64))
    if (largest >= 1 << np.maximum(31 - left, 0)).any():
        return "a sum may exceed 31 bits, in steps of its output if these are finer"
    return ""


def fine_table(node: Node) -> np.ndarray:
    """Returns int32 [channels, WORDS] for FINE: (shift to the left + 2^8 * k + 2^16 * s, multiplier, half a step)."""
    multiplier, shift = per_channel_requantize.output_multipliers(node)
    left, right = _fine_shifts(multiplier, shift)
    shifts = left | np.where(right > 0, 31, 32) << 8 | right << 16
    return np.stack([shifts, multiplier, (1 << right) >> 1], axis=1).astype(np.int32)


def fine_packed(node: Node) -> np.ndarray:
    """Returns int32 [channels, PACKED_WORDS] for FINE: `fine_table` without half a step, which follows from s."""
    return fine_table(node)[:, :2]


def _fine_shifts(multiplier: np.ndarray, shift: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Returns those to the left and to the right, int64."""
    shift = np.where(multiplier == 0, -1, shift).astype(np.int64)  # it does not matter
    return 1 + np.maximum(shift, 0), np.maximum(-shift, 0)
