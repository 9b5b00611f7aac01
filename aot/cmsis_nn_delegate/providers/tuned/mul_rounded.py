"""Elementwise product of int8 by two multiplications that round as the operator does, for cores with DSP or MVE.

The operator multiplies a product by m of 31 bits, rounds half up, and divides by 2^n, rounded half away from zero:

    x = (product * m + 2^30) >> 31,    (x + 2^(n-1) - [x < 0]) >> n

where [c] is 1 if c and else 0. The second step is also a multiplication that rounds half up, by a unit that is a little
larger than 2^-n:

    (x * unit + 2^30) >> 31,    unit = 2^(31-n) + 1

Proof. The second is (x * 2^(31-n) + x + 2^30) >> 31. With x = q * 2^n + r, 0 <= r < 2^n, it is q plus
(r * 2^(31-n) + x + 2^30) >> 31. As |x| < 2^(31-n), this is 0 for r < 2^(n-1) and 1 for r > 2^(n-1), the nearest of
both. For r = 2^(n-1), a half, it is (2^31 + x) >> 31, which is 0 for x < 0 and else 1: away from zero. Products of two
steps from zero are at most 255^2 < 2^16, and so is x, so that n may be up to 15.

With DSP, SMMLAR is such a multiplication with 32 bits in the place of 31, by twice the unit, which has to be less than
2^31; with MVE, VQRDMULH has 31 bits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ...format import blocks
from ...format.record import I8, I32, Field, Struct
from ...format.schema import Isa
from ...graph.ir import Node, Value
from ...ops import block_values, broadcast, elementwise, mul
from ...ops.attrs import Shapes
from ...ops.case import Case
from ...ops.features import Features, blocks_of
from ...ops.kernel import KernelSpec
from ...ops.mul import Mul
from ...ops.op import Draw
from ..implementation import OwnImplementation, Symbol

# By how many bits the operator may shift to the right.
SHIFTS = range(2, 16)
_UNIT_BITS = 31
_FEW = 4
_WORD, _VECTOR = 4, 16  # elements that assembly computes at a time, with DSP and with MVE
_OP = Mul()


def unit(shift: int) -> int:
    """Returns the factor that divides by 2^shift and rounds halves away from zero."""
    return (1 << _UNIT_BITS - shift) + 1


def _draw(d: Case) -> Value:
    return d.maybe_relu(mul.draw_product(d, *elementwise.draw_two(d)))


def _draw_vectors(d: Case) -> Value:
    """Of any length, or twice the same."""
    size = d.integer(1, 90)
    a, b = d.input(1, size), d.input(1, size)
    return mul.draw_product(d, a, d.pick(a, b, b, b))


def _draw_broadcast(d: Case) -> Value:
    return mul.draw_product(d, *broadcast.draw_two(d))


def _draw_channels(d: Case) -> Value:
    """A factor for each channel of an image, or one for all, or one for each pixel."""
    height, width = d.pair(1, 7)
    channels = d.pick(d.channels(), 4 * d.integer(1, 20), 16 * d.integer(1, 6), d.integer(1, 70))
    shape = (d.batch(), channels, height, width)
    kept = d.pick((1, 1, 0, 0), (1, 1, 0, 0), (1, 1, 0, 0), (1, 0, 1, 1), (1, 0, 0, 0), (0, 1, 0, 0))
    a, b = d.input(*shape), d.input(*(n if keep else 1 for n, keep in zip(shape, kept)))
    shapes = broadcast.shapes_of(a.shape, b.shape, a.layout)
    if shapes is None:
        return mul.draw_product(d, a, b)
    if d.pick(False, False, True):
        a, b, shapes = b, a, shapes[::-1]
    return mul.draw_product(d, a, b, shapes)


_NUMBERS = (
    blocks.input_offset("input1_offset"),
    blocks.input_offset("input2_offset"),
    blocks.output_offset(),
    Field("multiplier", I32, "of products, Q31", low=1 << 30, high=(1 << 31) - 1),
    Field(
        "unit",
        I32,
        "2^(31 - n) + 1: products are shifted to the right by n bits after their multiplication",
        low=unit(SHIFTS[-1]),
        high=unit(SHIFTS[0]),
    ),
    Field("activation", blocks.ACTIVATION),
)

KERNEL = KernelSpec(
    "mul_rounded",
    Struct(
        "MulRoundedArgs",
        "int8 elementwise product of two tensors of one shape, as mul computes it. The output may be one of the "
        "inputs.",
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
    "mul_rounded_broadcast",
    Struct(
        "MulRoundedBroadcastArgs",
        "int8 elementwise product of two tensors that are repeated along some dimensions, as mul_broadcast computes "
        "it. The output may be an input of its size.",
        (*broadcast.OPERANDS, *_NUMBERS, *broadcast.DIMS),
        geometry=broadcast.GEOMETRY,
    ),
)


class MulRounded(OwnImplementation):
    """The operator's arithmetic in two multiplications an element, which also round.

    Elements are read before they are written, four at a time or 16 with MVE: the output may be one of the inputs.
    """

    name = "mul_rounded"
    op = "mul"
    like = mul.KERNEL
    isas = frozenset({Isa.DSP, Isa.MVE})
    assumes = f"tensors of one shape, whose products are scaled down by 2^{SHIFTS[0]} to 2^{SHIFTS[-1] + 1}"
    draws: ClassVar[tuple[Draw, ...]] = (_draw, _draw_vectors)

    symbol = Symbol(KERNEL, helpers=("runtime/kernels/mul/mul_rounded_{isa}.S",))

    def why_not(self, node: Node) -> str:
        if node.attrs.shapes is not None:
            return "it takes two tensors of one shape"
        return _why_not(node)

    def features(self, node: Node, scratch_bytes: int) -> Features:
        words, last = divmod(node.output.numel, _WORD)
        vectors = blocks_of(node.output.numel, _VECTOR)
        limited = words if node.attrs.clamp.limits(node.output.type) else 0
        return Features({"words": words, "vectors": vectors, "words with a limit": limited, "last outputs": last})

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return {**refs, **_numbers(node), "count": node.output.numel}


class MulRoundedBroadcast(MulRounded):
    """The same where one or both operands are repeated. Elements that are repeated stay in registers."""

    name = "mul_rounded_broadcast"
    like = mul.BROADCAST_KERNEL
    assumes = f"tensors that are repeated, whose products are scaled down by 2^{SHIFTS[0]} to 2^{SHIFTS[-1] + 1}"
    draws = (_draw_broadcast, _draw_channels)

    symbol = Symbol(BROADCAST_KERNEL, helpers=("runtime/kernels/mul/mul_rounded_{isa}.S",))

    def why_not(self, node: Node) -> str:
        if node.attrs.shapes is None:
            return "it takes tensors that are repeated"
        return _why_not(node)

    def features(self, node: Node, scratch_bytes: int) -> Features:
        return Features(_counts(node))

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return {**refs, **_numbers(node), **broadcast.dims(node)}


def _why_not(node: Node) -> str:
    if node.output.numel <= _FEW:
        return f"for {_FEW} elements or fewer CMSIS-NN's function takes as long"
    _, shift = _OP.multiplier(node)
    return "" if -shift in SHIFTS else "the steps of the output are too small or too large for those of the inputs"


def _numbers(node: Node) -> Mapping[str, Any]:
    multiplier, shift = _OP.multiplier(node)
    return {
        **elementwise.offsets(node),
        "multiplier": multiplier,
        "unit": unit(-shift),
        "activation": block_values.activation(node.attrs.clamp, node.output.type),
    }


def _counts(node: Node) -> dict[str, int]:
    """Returns what compute_mul_rounded_broadcast() does for the shapes of `node`."""
    shapes: Shapes = node.attrs.shapes
    loops = broadcast.loops(shapes)
    *outer, rows, columns = [broadcast.Loop(1, 1, 1)] * (broadcast.MAX_LOOPS - len(loops)) + loops
    calls, height, width = outer[0].output * outer[1].output, rows.output, columns.output
    if min(columns.first, columns.second) < width:  # an element for each row
        calls, height, width = calls * height, width, 1
    found = {"calls": calls}
    for name, size, at_a_time in (("words", _WORD, _WORD), ("vectors", _VECTOR, 1)):
        copies = 1
        while width * copies % size and 2 * width * copies <= broadcast.COPIES_BYTES:
            copies *= 2
        copies = min(copies, height)
        whole, rest = divmod(height * width, width * copies)
        if whole == 1:
            whole, rest = 0, height * width
        columns_of, left = divmod(width * copies, size)
        found[f"columns of {name}"] = calls * columns_of if whole else 0
        found[f"{name} of columns"] = calls * columns_of * whole
        found[name] = calls * (whole * (left >= at_a_time) + blocks_of(rest - rest % at_a_time, size))
        found[f"copies for {name}"] = calls * copies if copies > 1 else 0
        if at_a_time > 1:
            found["last outputs"] = calls * (left * whole + rest % at_a_time)
    words = found["words of columns"] + found["words"]
    return {**found, "words with a limit": words if node.attrs.clamp.limits(node.output.type) else 0}
