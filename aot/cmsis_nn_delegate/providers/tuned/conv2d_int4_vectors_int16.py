"""Convolution of int16 with weights of 4 bits as `conv2d_vectors_int16`, for cores with MVE."""

from __future__ import annotations

from ...format.element import Element
from ...graph.ir import Value
from ...ops import conv2d
from ...ops.case import Case
from ..implementation import Symbol
from . import conv2d_int4_vectors, drawing, vector_table
from .conv2d_int4_vectors import Conv2dInt4Vectors
from .conv2d_vectors_int16 import INT16_HELPERS
from .drawing import typed


def _draw_fine_steps(d: Case) -> Value:
    """Outputs with finer steps than those of sums."""
    output = conv2d_int4_vectors.draw_pointwise(d, Element.INT16)
    drawing.finer_steps(d, 9)
    return output


KERNEL = conv2d_int4_vectors.kernel_of(Element.INT16)


class Conv2dInt4VectorsInt16(Conv2dInt4Vectors):
    """`Conv2dInt4Vectors` of int16, with 8 inputs in a vector. Weights are unpacked whole: sums have no room for
    16 times as large ones."""

    name = "conv2d_int4_vectors_int16"
    like = conv2d.INT4_INT16
    element = Element.INT16
    vector = 8
    finer = True
    assumes = (
        "one group without gaps in its windows, two or more output pixels and channels, and biases of "
        f"{vector_table.START_BITS} bits"
    )
    draws = (*typed(Conv2dInt4Vectors.draws, element=Element.INT16), _draw_fine_steps)
    symbol = Symbol(KERNEL, helpers=INT16_HELPERS)
