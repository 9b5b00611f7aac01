"""How kernels in MVE assembly turn 32-bit sums into int8 and int16: VQRDMULH, VRSHL, the zero point, the clamp.

VQRDMULH rounds as the multiplication of `quantized_math.requantize` does. VRSHL rounds halves up, but halves below zero
have to go away from zero. LEAST shifts without a correction, where every result below zero is clamped to the zero
point: a ReLU whose zero is the least int8, or one of int16. ANY adds the sign first, and clamps to any limits. Both
need a shift to the right for every channel, and nothing of the size of sums, which wrap as in `requantize`.

Weights of 4 bits have large steps, so that those of outputs are often finer than those of sums. Kernels for them shift
to the left before VQRDMULH, as `requantize` does, and add the sign only where they shift to the right: these take any
shift.
"""

from __future__ import annotations

import enum

import numpy as np

from ...graph.ir import Node
from ...ops import per_channel_requantize


class VectorForm(enum.IntEnum):
    """The values are those of the field `form` of argument blocks."""

    ANY = 0
    LEAST = 1


def form_of(node: Node, finer: bool = False) -> VectorForm:
    """Returns the cheapest form that is exact for `node`; `finer`: of a kernel that shifts to the left too. ValueError
    says why there is none."""
    if not finer and (scales(node)[1] > -1).any():
        raise ValueError("an output channel has finer steps than its sums, half of them or less")
    limits = node.attrs.clamp.quantized(node.output.type)
    element, zero_point = node.output.element, node.output.zero_point
    relu = zero_point == element.zero_points[0] and limits == (zero_point, element.high)
    return VectorForm.LEAST if relu else VectorForm.ANY


def why_not(node: Node, finer: bool = False) -> str:
    """Returns why there is no form for `node`, "" if there is one."""
    try:
        form_of(node, finer)
    except ValueError as error:
        return str(error)
    return ""


def scales(node: Node) -> tuple[np.ndarray, np.ndarray]:
    """Returns the int32 multiplier and shift of each channel."""
    multiplier, shift = per_channel_requantize.output_multipliers(node)
    # A multiplier of 0 has a shift of 0, but any does.
    return multiplier, np.where(multiplier == 0, -1, shift).astype(np.int32)
