"""Convolution of int16 as a product of 4 pixels by 2 channels, for cores with MVE."""

from __future__ import annotations

from typing import ClassVar

from ...format.element import Element
from ...graph.ir import Value
from ...ops import conv2d
from ...ops.case import Case
from ...ops.kernel import KernelSpec
from ...ops.op import Draw
from ..implementation import Symbol
from . import block_args, conv2d_vectors
from .conv2d_vectors import HELPERS, Conv2dVectors
from .vector_requantization import VectorForm

_ELEMENT = Element.INT16
INT16_HELPERS = (*HELPERS, "runtime/kernels/common/vector_products_int16_{isa}.S")


def _draw_windows(d: Case) -> Value:
    return conv2d_vectors.draw_windows(d, _ELEMENT)


def _draw_wide(d: Case) -> Value:
    return conv2d_vectors.draw_wide(d, _ELEMENT)


def _draw_deep(d: Case) -> Value:
    return conv2d_vectors.draw_deep(d, _ELEMENT)


def _draw_first(d: Case) -> Value:
    return conv2d_vectors.draw_first(d, _ELEMENT)


def _draw_pointwise(d: Case) -> Value:
    return conv2d_vectors.draw_pointwise(d, _ELEMENT)


def _draw_padding_beyond_the_kernel(d: Case) -> Value:
    return conv2d_vectors.draw_padding_beyond_the_kernel(d, _ELEMENT)


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
    draws: ClassVar[tuple[Draw, ...]] = (
        _draw_windows,
        _draw_wide,
        _draw_deep,
        _draw_first,
        _draw_pointwise,
        _draw_padding_beyond_the_kernel,
    )
    symbol = Symbol(KERNEL, helpers=INT16_HELPERS)
