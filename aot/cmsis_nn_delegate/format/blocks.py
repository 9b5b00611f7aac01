"""The building blocks of argument blocks: fields of every kind, and the parameter structs of CMSIS-NN.

    args = Struct("AddArgs", "int8 elementwise sum ...", (
        blocks.input("input1", I8, "count", doc="int8 [count]"),
        ...

A field states its type and range or, if it is a reference, what it names. The checks of init() follow from that.
"""

from __future__ import annotations

from .element import Element
from .record import BYTES, I8, I16, I32, REF, U16, Field, Operand, Role, Scalar, Struct
from .schema import MAX_SHIFT, MIN_SHIFT

# Of blocks that do not say which: those of CMSIS-NN's functions for s8, and of ours for the same numbers.
_ACTIVATION = Element.INT8


def operand(role: Role, name: str, element: Scalar, shape: tuple[str, ...], doc: str) -> Field:
    return Field(name, REF, doc, operand=Operand(role, element, shape))


def input(name: str, element: Scalar, *shape: str, doc: str) -> Field:
    return operand(Role.INPUT, name, element, shape, doc)


def output(element: Scalar, *shape: str, doc: str, name: str = "output") -> Field:
    return operand(Role.OUTPUT, name, element, shape, doc)


def state(name: str, element: Scalar, *shape: str, doc: str) -> Field:
    return operand(Role.STATE, name, element, shape, doc)


def lengths() -> Field:
    """How many steps each sequence of a batch has."""
    return operand(Role.INPUT, "lengths", BYTES, ("length_bytes",), "int64 or int32 [batch], of any alignment")


def length_bytes() -> Field:
    return Field("length_bytes", I32, "8 * batch of int64, 4 * batch of int32: this tells them apart")


def filter(*shape: str, doc: str, element: Scalar = I8) -> Field:
    return operand(Role.FILTER, "filter", element, shape, doc)


def weight_table(*shape: str, doc: str) -> Field:
    """Weights and what belongs to them, in the order in which a tuned kernel reads them."""
    return operand(Role.FILTER, "table", I32, shape, doc)


def scales(words: str, doc: str) -> Field:
    """What a tuned kernel requantizes sums with, if that does not lie in its table."""
    return operand(Role.FILTER, "scales", I32, (words,), doc)


def bias(channels: str, doc: str, element: Scalar = I32) -> Field:
    return operand(Role.BIAS, "bias", element, (channels,), doc)


def multipliers(channels: str, doc: str) -> Field:
    return operand(Role.MULTIPLIER, "multiplier", I32, (channels,), doc)


def shifts(channels: str, doc: str) -> Field:
    return operand(Role.SHIFT, "shift", I32, (channels,), doc)


def scratch() -> Field:
    return operand(Role.SCRATCH, "scratch", I8, ("scratch_bytes",), "16-byte aligned, or none")


def input_offset(name: str = "input_offset", type: Scalar = I32, element: Element = _ACTIVATION) -> Field:
    zero_points = element.zero_points
    return Field(name, type, "-zero_point of the input", low=-zero_points[-1], high=-zero_points[0])


def output_offset(type: Scalar = I32, element: Element = _ACTIVATION) -> Field:
    zero_points = element.zero_points
    return Field("output_offset", type, "zero_point of the output", low=zero_points[0], high=zero_points[-1])


def zero_point(element: Element = _ACTIVATION) -> Field:
    return Field("zero_point", I32, low=element.zero_points[0], high=element.zero_points[-1])


def number(name: str, doc: str = "", type: Scalar = I32, element: Element = _ACTIVATION) -> Field:
    """A number that activations can have."""
    return Field(name, type, doc, low=element.low, high=element.high)


def multiplier(name: str, doc: str = "Q31") -> Field:
    return Field(name, I32, doc, low=0, high=2**31 - 1)


def shift(name: str, low: int = MIN_SHIFT, high: int = MAX_SHIFT) -> Field:
    return Field(name, I32, "left if positive", low=low, high=high)


# Parameter blocks, with the same members as in CMSIS-NN's arm_nn_types.h -----

TILE = Struct("Tile", "= cmsis_nn_tile", (Field("w", I32), Field("h", I32)))

DIMS = Struct(
    "Dims",
    "= cmsis_nn_dims",
    (Field("n", I32), Field("h", I32), Field("w", I32), Field("c", I32)),
)

ACTIVATION = Struct(
    "Activation",
    "= cmsis_nn_activation",
    (number("min", "at most max"), number("max")),
    values="activation",
)

ACTIVATION_INT16 = Struct(
    "ActivationInt16",
    "= cmsis_nn_activation, of int16",
    (number("min", "at most max", element=Element.INT16), number("max", element=Element.INT16)),
    values="activation",
)

# The same in 16 bits, for blocks whose kernels take no larger numbers. Kernels that call CMSIS-NN widen them.

PACKED_TILE = Struct("PackedTile", "A Tile in 16 bits.", (Field("w", U16), Field("h", U16)))

PACKED_DIMS = Struct(
    "PackedDims",
    "Dims in 16 bits.",
    (Field("n", U16), Field("h", U16), Field("w", U16), Field("c", U16)),
)

PACKED_ACTIVATION = Struct(
    "PackedActivation",
    "An Activation in 16 bits.",
    (number("min", "at most max", I16), number("max", type=I16)),
    values="activation",
)

PACKED_ACTIVATION_INT16 = Struct(
    "PackedActivationInt16",
    "An ActivationInt16 in 16 bits.",
    (number("min", "at most max", I16, Element.INT16), number("max", type=I16, element=Element.INT16)),
    values="activation",
)
