"""Convolution of int16 as a product of 4 pixels by 2 channels, for cores with MVE."""

from __future__ import annotations

from ...format.element import Element
from ...ops import conv2d
from ...ops.kernel import KernelSpec
from ..implementation import Symbol
from . import block_args
from .conv2d_vectors import HELPERS, Conv2dVectors
from .drawing import typed
from .vector_requantization import VectorForm

_ELEMENT = Element.INT16
INT16_HELPERS = (*HELPERS, "runtime/kernels/common/vector_products_int16_{isa}.S")


KERNEL = KernelSpec(
    "conv2d_vectors_int16",
    block_args.struct(
        "Conv2dVectorsInt16Args",
        "int16 convolution of one group, as conv2d_int16 computes it, from weights in the order of the products.",
        table="for each 2 channels: 8 weights of the first and 8 of the second for each 8 inputs of a window, the "
        "first 8 and then the others from the last to the second; biases, multipliers and shifts. Inputs are in the "
        "order [w, h, c], or [h, w, c] if lines of a window have at most 8 inputs and there are several; the last "
        "block has the last 2 channels",
        block_count="output_dims.c / 2, rounded up",
        block_words="6, and the inputs of a window rounded up to 8, divided by 2",
        forms=VectorForm,
        element=_ELEMENT,
    ),
    priced_as="conv2d_vectors",
)


class Conv2dVectorsInt16(Conv2dVectors):
    """`Conv2dVectors` of int16, with 8 inputs in a vector: weights are widened where they are loaded."""

    name = "conv2d_vectors_int16"
    like = conv2d.INT16
    element = _ELEMENT
    vector = 8
    draws = typed(Conv2dVectors.draws, element=_ELEMENT)
    symbol = Symbol(KERNEL, helpers=INT16_HELPERS)
