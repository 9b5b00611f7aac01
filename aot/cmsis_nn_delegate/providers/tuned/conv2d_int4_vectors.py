"""The convolution of `conv2d_vectors` with weights of 4 bits, for cores with MVE."""

from __future__ import annotations

from ...format.element import Element
from ...graph.ir import Node, Value
from ...ops import conv2d
from ...ops.case import Case
from ...ops.kernel import KernelSpec
from ..implementation import Symbol
from . import block_args, conv2d_vectors, vector_table
from .conv2d_vectors import HELPERS, Conv2dVectors
from .vector_requantization import VectorForm
from .vector_table import VECTOR


def _draw_windows(d: Case) -> Value:
    kernel = d.pair(1, 4)
    x = d.image(d.batch(), d.channels(), kernel)
    strides = d.pair(1, 3), d.padding(kernel)
    return d.maybe_relu(d.conv2d(x, 1 + d.channels(), kernel, *strides, clamp=d.clamp(), element=Element.INT4))


def _draw_deep(d: Case) -> Value:
    """More than eight vectors in a window."""
    x = d.input(d.batch(), d.integer(15, 50), *d.pair(3, 8))
    strides = d.pair(1, 2), d.padding((3, 3))
    return d.maybe_relu(d.conv2d(x, 1 + d.channels(), (3, 3), *strides, clamp=d.clamp(), element=Element.INT4))


def _draw_pointwise(d: Case) -> Value:
    inputs = d.pick(d.channels(), VECTOR * d.integer(1, 9), d.integer(40, 140))
    x = d.input(d.batch(), inputs, *d.pair(1, 7))
    stride = d.pick((1, 1), (1, 1), d.pair(1, 3))
    return d.maybe_relu(d.conv2d(x, 1 + d.channels(), (1, 1), stride, clamp=d.clamp(), element=Element.INT4))


KERNEL = KernelSpec(
    "conv2d_int4_vectors",
    block_args.struct(
        "Conv2dInt4VectorsArgs",
        "int8 convolution of one group, as conv2d_int4 computes it, from weights of 4 bits in the order of the "
        "products.",
        table="for each 2 channels: 16 bytes for each 16 inputs of a window, of which each has the weight of the first "
        "channel in its lower half and of the second in its upper half, the first 16 and then the others from the last "
        "to the second; 2 words with a shift in the lowest 6 bits and the sum for inputs of 0 in the others, and 2 "
        "multipliers. Inputs are in the order [w, h, c]; the last "
        "block has the last 2 channels",
        block_count="output_dims.c / 2, rounded up",
        block_words="4, and the inputs of a window rounded up to 16, divided by 4",
        forms=VectorForm,
    ),
    priced_as="conv2d_vectors",
)


class Conv2dInt4Vectors(Conv2dVectors):
    """Like conv2d_vectors, with a load for the weights of both filters: a shift to the left makes those of the first 16
    times as large, and one to the right gives those of the second. The sums of the first are shifted back once.
    """

    name = "conv2d_int4_vectors"
    like = conv2d.INT4
    nibbles = True
    assumes = Conv2dVectors.assumes + f", and sums for inputs of 0 of {vector_table.START_BITS} bits"
    draws = (_draw_windows, _draw_deep, _draw_pointwise)

    symbol = Symbol(KERNEL, helpers=HELPERS)

    def why_not(self, node: Node) -> str:
        return super().why_not(node) or vector_table.why_not_joined(conv2d_vectors.starts(node))
