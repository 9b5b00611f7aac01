"""Linear layer of int16, row by row, as products with blocks of 8 channels, for cores with MVE."""

from __future__ import annotations

from ...format.element import Element
from ...graph.ir import Value
from ...ops import fully_connected
from ...ops.case import Case
from ..implementation import Symbol
from . import fully_connected_as_conv2d, fully_connected_pairs, fully_connected_vectors
from .fully_connected_vectors import HELPERS, FullyConnectedVectors


def _draw(d: Case) -> Value:
    return fully_connected_pairs.draw(d, Element.INT16)


def _draw_whole_blocks(d: Case) -> Value:
    return fully_connected_pairs.draw_whole_blocks(d, Element.INT16)


def _draw_rows(d: Case) -> Value:
    return fully_connected_as_conv2d.draw(d, Element.INT16)


def _draw_image(d: Case) -> Value:
    return fully_connected_as_conv2d.draw_image(d, Element.INT16)


KERNEL = fully_connected_vectors.kernel_of(Element.INT16)


class FullyConnectedVectorsInt16(FullyConnectedVectors):
    """`FullyConnectedVectors` of int16, with 8 inputs in a vector: weights are widened where they are loaded."""

    name = "fully_connected_vectors_int16"
    like = fully_connected.INT16
    element = Element.INT16
    draws = (_draw, _draw_whole_blocks, _draw_rows, _draw_image)
    symbol = Symbol(KERNEL, helpers=HELPERS)
