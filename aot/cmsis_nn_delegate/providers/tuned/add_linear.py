"""Elementwise sum as a linear function of both inputs, for cores with DSP or MVE."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any, ClassVar, NamedTuple, Optional

import numpy as np

from ...format import blocks
from ...format.record import I8, I32, Field, Struct
from ...format.schema import Isa
from ...graph.ir import Node, Value
from ...ops import add, block_values, broadcast, elementwise
from ...ops.add import LEFT_SHIFT, Add, Arithmetic
from ...ops.case import Case
from ...ops.features import Features
from ...ops.kernel import KernelSpec
from ...ops.op import Draw
from ...ops.quantized_math import INT32_MAX, INT32_MIN
from ..implementation import OwnImplementation, Symbol

_FRACTION_BITS = 20  # of a result before SSAT #8, ASR #20
_FACTOR_BITS = 8  # that a product drops
_INPUTS = np.arange(-128, 128, dtype=np.int64)
# Changes of the factors, tried in this order. Larger ones take halves away from zero, as the reference does.
_CHANGES = (0.0, *(sign * 2.0**-bits for bits in range(27, 15, -1) for sign in (1, -1)))
_OP = Add()
_LOOP = "runtime/kernels/add/add_linear_{isa}.S"
_ROWS = "runtime/kernels/common/broadcast.cc"


class Linear(NamedTuple):
    """(factor1 * a / 2^8 + factor2 * b / 2^8 + constant) / 2^20, with each quotient rounded down."""

    factor1: int
    factor2: int
    constant: int


@functools.lru_cache(maxsize=256)
def linear(arithmetic: Arithmetic) -> Optional[Linear]:
    """Returns a linear function that equals `arithmetic` for every pair of int8, or None if none is found."""
    low, high = arithmetic.limits
    wanted = arithmetic.sum(_INPUTS[:, None], _INPUTS[None, :]).astype(np.int64)
    # The limits cut off all results beyond them.
    least = np.where(wanted > low, wanted << _FRACTION_BITS, INT32_MIN)
    most = np.where(wanted < high, (wanted + 1 << _FRACTION_BITS) - 1, INT32_MAX)
    *inputs, output = (mantissa * 2.0 ** (shift - 31) for mantissa, shift in arithmetic.multipliers)
    for change in _CHANGES:
        unit = output * 2.0 ** (LEFT_SHIFT + _FRACTION_BITS + _FACTOR_BITS) * (1 + change)
        factors = [round(scale * unit) for scale in inputs]
        if any(abs(factor) > INT32_MAX for factor in factors):
            return None
        products = [factor * _INPUTS >> _FACTOR_BITS for factor in factors]
        total = products[0][:, None] + products[1][None, :]
        # The constants that are right for every pair, and with which no sum overflows.
        first = max(int((least - total).max()), INT32_MIN - int(total.min()), INT32_MIN)
        last = min(int((most - total).min()), INT32_MAX - int(total.max()), INT32_MAX)
        if first <= last:
            return Linear(factors[0], factors[1], (first + last) // 2)
    return None


def _draw(d: Case) -> Value:
    return d.maybe_relu(d.add(*elementwise.draw_two(d), d.clamp()))


def _draw_vectors(d: Case) -> Value:
    """Of any length, or twice the same."""
    size = d.integer(1, 70)
    a, b = d.input(1, size), d.input(1, size)
    return d.add(a, d.pick(a, b, b, b), d.clamp(), alpha=d.pick(1.0, 1.0, -1.0, float(d.random.uniform(-3, 3))))


def _draw_halves(d: Case) -> Value:
    """Scales that are powers of two of each other, whose sums often lie halfway between two results."""
    a, b = elementwise.draw_two(d)
    b.retype(quant=d.quant(a.scale * 2.0 ** d.integer(-3, 3), b.zero_point))
    output = d.quant(max(a.scale, b.scale) * 2.0 ** d.integer(-1, 3), d.pick(-128, 0, d.integer(-128, 127)))
    return d.add(a, b, d.clamp(), output, alpha=d.pick(1.0, -1.0))


def _draw_broadcast(d: Case) -> Value:
    a, b, shapes = broadcast.draw_two(d)
    return d.add(a, b, d.clamp(), alpha=d.pick(1.0, 1.0, -1.0, float(d.random.uniform(-3, 3))), shapes=shapes)


_NUMBERS = (
    Field("factor1", I32, "of input1, with 28 bits of fraction"),
    Field("factor2", I32, "of input2, with 28 bits of fraction"),
    Field("constant", I32, "with 20 bits of fraction: what is added to both products"),
    Field("activation", blocks.ACTIVATION),
)

KERNEL = KernelSpec(
    "add_linear",
    Struct(
        "AddLinearArgs",
        "int8 elementwise sum of two tensors of one shape, as add computes it, with factors that give all of its "
        "results. The output may be one of the inputs.",
        (
            blocks.input("input1", I8, "count", doc="int8 [count]"),
            blocks.input("input2", I8, "count", doc="int8 [count]"),
            blocks.output(I8, "count", doc="int8 [count]"),
            *_NUMBERS,
            Field("count", I32, "elements"),
        ),
    ),
)
BROADCAST_KERNEL = KernelSpec(
    "add_linear_broadcast",
    Struct(
        "AddLinearBroadcastArgs",
        "int8 elementwise sum of two tensors that are repeated along some dimensions, as add_broadcast computes it, "
        "with the factors of add_linear. The output may be an input of its size.",
        (*broadcast.OPERANDS, *_NUMBERS, *broadcast.DIMS),
        geometry=broadcast.GEOMETRY,
    ),
)


class AddLinear(OwnImplementation):
    """The sum of two int8 is one of 2^16, so that the compiler can compare a linear function of fixed-point numbers
    with all of them: it takes factors and a constant with which every one is right. That is two multiplications an
    element, without a rounding of each input.

    Elements are read before they are written, four at a time or 16 with MVE: the output may be one of the inputs.
    """

    name = "add_linear"
    op = "add"
    like = add.KERNEL
    isas = frozenset({Isa.DSP, Isa.MVE})
    assumes = "tensors of one shape, and a linear function that gives each of the 2^16 results"
    draws: ClassVar[tuple[Draw, ...]] = (_draw, _draw_vectors, _draw_halves)

    # Its header has both sums.
    symbol = Symbol(KERNEL, helpers=(_LOOP, _ROWS))

    def why_not(self, node: Node) -> str:
        if node.attrs.shapes is not None:
            return "it takes two tensors of one shape"
        return _why_not_linear(node)

    def features(self, node: Node, scratch_bytes: int) -> Features:
        words, last = divmod(node.output.numel, 4)
        limited = words if node.attrs.clamp.limits(node.output.type) else 0
        vectors = -(-words // 4)
        return Features({"words": words, "vectors": vectors, "words with a limit": limited, "last outputs": last})

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return {**refs, **_numbers(node), "count": node.output.numel}


class AddLinearBroadcast(AddLinear):
    """The same for rows of operands of which one or both are repeated."""

    name = "add_linear_broadcast"
    like = add.BROADCAST_KERNEL
    assumes = "tensors that are repeated, and a linear function that gives each of the 2^16 results"
    draws = (_draw_broadcast,)

    symbol = Symbol(BROADCAST_KERNEL, helpers=(_LOOP, _ROWS))

    def why_not(self, node: Node) -> str:
        if node.attrs.shapes is None:
            return "it takes tensors that are repeated"
        return _why_not_linear(node)

    def features(self, node: Node, scratch_bytes: int) -> Features:
        counts = broadcast.counts(node.attrs.shapes)
        return Features(
            {**counts, "outputs with a limit": counts["outputs"] if node.attrs.clamp.limits(node.output.type) else 0}
        )

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return {**refs, **_numbers(node), **broadcast.dims(node)}


def _why_not_linear(node: Node) -> str:
    return "" if linear(_OP.arithmetic(node)) else "no linear function gives all results of these scales"


def _numbers(node: Node) -> Mapping[str, Any]:
    found = linear(_OP.arithmetic(node))
    assert found is not None
    return {**found._asdict(), "activation": block_values.activation(node.attrs.clamp, node.output.type)}
