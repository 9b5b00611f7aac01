"""Elementwise sum of int16 in few instructions, for cores with DSP or MVE.

The operand of the larger scale is multiplied by 1/2 after a left shift, which is a product with 2^14. The reference
multiplies the other operand and the sum by numbers of 31 bits, rounds half up, and divides by 2^n, rounded half away
from zero. That division is (x + half) >> n if x is not negative, and else (x - 1 + half) >> n. Therefore

    LSL b, 16;  SMMULR b * multiplier;  ADD its sign
    SMULBB a * factor;  SMMLSR that - b * unit                   with the unit -2^(32-n), so that n may be 1
    SMMLAR sum * output_multiplier + sum and its sign
    SMMULR that * output_unit;  SSAT #16                         with the unit 2^(32-n)

give what the reference gives, for all numbers. An output multiplier m of 31 bits counts twice, 2 m = 2^32 +
output_multiplier: SMMLAR adds the sum for the 2^32. The sign is that of the sum. Where that differs from the sign of
the product, the product is 0, and so is the result with either sign.

With MVE, VQRDMULH gives what SMMULR gives of twice the number, and VRSHL shifts and rounds half up, four elements at a
time.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

from ...format import blocks
from ...format.element import Element
from ...format.record import I16, I32, Field, Struct
from ...format.schema import Isa
from ...graph.ir import Node, Value
from ...ops import add, block_values, elementwise
from ...ops.add import Add, Arithmetic
from ...ops.case import Case
from ...ops.features import Features
from ...ops.kernel import KernelSpec
from ..implementation import OwnImplementation, Symbol

_HALF = (1 << 30, 0)  # 1/2 as a multiplier: that of the larger scale
_FACTOR = 1 << 14  # 2^15, the left shift, halved
_LEAST_OUTPUT_SHIFT = 2  # the unit 2^(32-n) has to fit in 32 bits
_OP = Add()


class PairSum(NamedTuple):
    """The numbers of a sum a + b or b + a, of which a has the larger scale."""

    swapped: bool  # whether a is the second input
    factor: int
    multiplier: int
    unit: int
    output_multiplier: int
    output_unit: int


def output_shift(arithmetic: Arithmetic) -> int:
    """Returns how many bits the result of the output's multiplication is shifted to the right."""
    return -arithmetic.multipliers[2][1]


def pair_sum(arithmetic: Arithmetic) -> PairSum:
    """Returns the numbers that give what `arithmetic` gives for every pair of int16. Its output shift is at least 2."""
    first, second, (output, _) = arithmetic.multipliers
    swapped = (abs(first[0]), first[1]) != _HALF
    (half, _), (multiplier, shift) = (second, first) if swapped else (first, second)
    if shift == 0:
        # 1/2 as well, or 0. One less than 2^31 and a shift of 1 give the same: what lacks is at most half a unit of a
        # number twice as large, and is rounded away.
        multiplier, shift = int(np.sign(multiplier)) * ((1 << 31) - 1), -1
    return PairSum(
        swapped,
        _FACTOR if half > 0 else -_FACTOR,
        multiplier,
        -(1 << 32 + shift),
        2 * output - (1 << 32),
        1 << 32 - output_shift(arithmetic),
    )


def _draw(d: Case) -> Value:
    return d.maybe_relu(d.add(*elementwise.draw_two(d, Element.INT16), d.clamp()))


def _draw_vectors(d: Case) -> Value:
    """Of any length, or twice the same."""
    size = d.integer(1, 70)
    a, b = (d.input(1, size, element=Element.INT16) for _ in range(2))
    return d.add(a, d.pick(a, b, b, b), d.clamp(), alpha=d.pick(1.0, 1.0, -1.0, float(d.random.uniform(-3, 3))))


def _draw_halves(d: Case) -> Value:
    """Scales that are powers of two of each other, whose sums often lie halfway between two results."""
    a, b = elementwise.draw_two(d, Element.INT16)
    b.retype(quant=d.quant(a.scale * 2.0 ** d.integer(-3, 3), 0))
    output = d.quant(max(a.scale, b.scale) * 2.0 ** d.integer(-1, 3), 0)
    return d.add(a, b, d.clamp(), output, alpha=d.pick(1.0, -1.0))


KERNEL = KernelSpec(
    "add_pairs_int16",
    Struct(
        "AddPairsInt16Args",
        "int16 elementwise sum of two tensors of one shape, as add_int16 computes it. The output may be one of the "
        "inputs.",
        (
            blocks.input("input1", I16, "count", doc="int16 [count], of the larger scale"),
            blocks.input("input2", I16, "count", doc="int16 [count]"),
            blocks.output(I16, "count", doc="int16 [count]"),
            Field("factor", I32, "of input1: 2^14, negative if it is subtracted", low=-_FACTOR, high=_FACTOR),
            Field("multiplier", I32, "of input2, Q31, negative if it is subtracted"),
            Field("unit", I32, "-2^(32 - n): input2 is shifted to the right by n bits after its multiplication"),
            Field("output_multiplier", I32, "2 m - 2^32, with m in Q31"),
            Field("output_unit", I32, "2^(32 - n): results are shifted to the right by n bits after theirs"),
            Field("activation", blocks.ACTIVATION_INT16),
            Field("count", I32, "elements"),
        ),
    ),
    # As many instructions a word, though that has two elements in the place of four.
    priced_as="add_linear",
)


class AddPairsInt16(OwnImplementation):
    """The operator's arithmetic, two or four elements at a time and with one instruction for each of its roundings.

    Elements are read before they are written: the output may be one of the inputs.
    """

    name = "add_pairs_int16"
    op = "add"
    like = add.INT16
    isas = frozenset({Isa.DSP, Isa.MVE})
    assumes = "tensors of one shape, and an output whose steps are more than 2^-12 of the larger ones of the inputs"
    draws = (_draw, _draw_vectors, _draw_halves)

    symbol = Symbol(KERNEL, helpers=("runtime/kernels/add/add_pairs_int16_{isa}.S",))

    def why_not(self, node: Node) -> str:
        if node.attrs.shapes is not None:
            return "it takes two tensors of one shape"
        arithmetic = _OP.arithmetic(node)
        if arithmetic.multipliers[2][0] == 0 or output_shift(arithmetic) < _LEAST_OUTPUT_SHIFT:
            return "the steps of the output are too small or too large for those of the inputs"
        return ""

    def features(self, node: Node, scratch_bytes: int) -> Features:
        words, last = divmod(node.output.numel, 2)
        low, high = node.attrs.clamp.quantized(node.output.type)
        limited = words if high != Element.INT16.high or low not in (Element.INT16.low, 0) else 0
        return Features({"words": words, "words with a limit": limited, "last outputs": last})

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        numbers = pair_sum(_OP.arithmetic(node))._asdict()
        if numbers.pop("swapped"):
            refs = {**refs, "input1": refs["input2"], "input2": refs["input1"]}
        return {
            **refs,
            **numbers,
            "activation": block_values.activation(node.attrs.clamp, node.output.type),
            "count": node.output.numel,
        }
