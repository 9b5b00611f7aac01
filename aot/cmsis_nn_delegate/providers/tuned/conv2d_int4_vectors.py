"""The convolution of `conv2d_vectors` with weights of 4 bits, for cores with MVE."""

from __future__ import annotations

from typing import ClassVar

from ...format.cpp import camel
from ...format.element import Element
from ...format.record import I8, I16
from ...graph.ir import Node, Value
from ...ops import conv2d
from ...ops.case import Case
from ...ops.kernel import KernelSpec, named_for
from ...ops.op import Draw
from ..implementation import Symbol
from . import block_args, conv2d_vectors, vector_table
from .conv2d_vectors import HELPERS, Conv2dVectors
from .vector_requantization import VectorForm
from .vector_table import VECTOR


def draw_windows(d: Case, element: Element = Element.INT8) -> Value:
    """`element` is the type of inputs, here and below."""
    kernel = d.pair(1, 4)
    x = d.image(d.batch(), d.channels(), kernel, element=element)
    strides = d.pair(1, 3), d.padding(kernel)
    return d.maybe_relu(d.conv2d(x, 1 + d.channels(), kernel, *strides, clamp=d.clamp(), element=Element.INT4))


def draw_deep(d: Case, element: Element = Element.INT8) -> Value:
    """More than eight vectors in a window."""
    x = d.input(d.batch(), d.integer(15, 50), *d.pair(3, 8), element=element)
    strides = d.pair(1, 2), d.padding((3, 3))
    return d.maybe_relu(d.conv2d(x, 1 + d.channels(), (3, 3), *strides, clamp=d.clamp(), element=Element.INT4))


def draw_first(d: Case, element: Element = Element.INT8) -> Value:
    """Of few channels, so that 16 bytes hold a line of a window."""
    x = d.input(d.batch(), d.integer(1, 3), d.integer(4, 10), d.integer(4, 24), element=element)
    strides = d.pair(1, 2), d.padding((3, 3))
    return d.maybe_relu(d.conv2d(x, 1 + d.channels(), (3, 3), *strides, clamp=d.clamp(), element=Element.INT4))


def draw_pointwise(d: Case, element: Element = Element.INT8) -> Value:
    inputs = d.pick(d.channels(), VECTOR * d.integer(1, 9), d.integer(40, 140))
    x = d.input(d.batch(), inputs, *d.pair(1, 7), element=element)
    stride = d.pick((1, 1), (1, 1), d.pair(1, 3))
    return d.maybe_relu(d.conv2d(x, 1 + d.channels(), (1, 1), stride, clamp=d.clamp(), element=Element.INT4))


def kernel_of(element: Element) -> KernelSpec:
    """Returns the kernel for inputs and outputs of `element`, int8 or int16."""
    wide = element is Element.INT16
    name, like = (named_for(what, I16 if wide else I8) for what in ("conv2d_int4_vectors", "conv2d_int4"))
    vector = VECTOR // element.nbytes(1)
    return KernelSpec(
        name,
        block_args.struct(
            f"{camel(name)}Args",
            f"{element.value} convolution of one group, as {like} computes it, from weights of 4 bits in the order of "
            "the products.",
            table=f"for each 2 channels: {vector} bytes for each {vector} inputs of a window, of which each has the "
            "weight of the first channel in its lower half and of the second in its upper half, the first "
            f"{vector} and then the others from the last to the second; 2 words with a shift in the lowest 6 bits and "
            "the sum for inputs of 0 in the others, and 2 multipliers. Inputs are in the order [w, h, c], or "
            f"[h, w, c] if lines of a window have at most {vector} inputs and there are several; the last block has "
            "the last 2 channels",
            block_count="output_dims.c / 2, rounded up",
            block_words=f"4, and the inputs of a window rounded up to {vector}, divided by 4",
            forms=VectorForm,
            element=element,
        ),
        priced_as="conv2d_vectors",
    )


KERNEL = kernel_of(Element.INT8)


class Conv2dInt4Vectors(Conv2dVectors):
    """Like conv2d_vectors, with a load for the weights of both filters: a shift to the left makes those of the first 16
    times as large, and one to the right gives those of the second. The sums of the first are shifted back once.
    """

    name = "conv2d_int4_vectors"
    like = conv2d.INT4
    nibbles = True
    assumes = Conv2dVectors.assumes + f", and sums for inputs of 0 of {vector_table.START_BITS} bits"
    draws: ClassVar[tuple[Draw, ...]] = (draw_windows, draw_deep, draw_first, draw_pointwise)

    symbol = Symbol(KERNEL, helpers=HELPERS)

    def why_not(self, node: Node) -> str:
        return super().why_not(node) or vector_table.why_not_joined(conv2d_vectors.starts(node))
