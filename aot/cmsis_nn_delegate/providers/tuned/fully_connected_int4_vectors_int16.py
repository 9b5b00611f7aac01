"""The linear layers of `fully_connected_vectors_int16` with weights of 4 bits, for cores with MVE."""

from __future__ import annotations

from ...format.element import Element
from ...graph.ir import Value
from ...ops import fully_connected
from ...ops.case import Case
from ..implementation import Symbol
from . import fully_connected_as_conv2d, fully_connected_int4_vectors, fully_connected_pairs, fully_connected_vectors
from .fully_connected_int4_vectors import FullyConnectedInt4Vectors
from .fully_connected_vectors import HELPERS


def _draw(d: Case) -> Value:
    return fully_connected_pairs.draw(d, Element.INT16, Element.INT4)


def _draw_whole_blocks(d: Case) -> Value:
    return fully_connected_pairs.draw_whole_blocks(d, Element.INT16, Element.INT4)


def _draw_rows(d: Case) -> Value:
    return fully_connected_as_conv2d.draw(d, Element.INT16, Element.INT4)


def _draw_fine_steps(d: Case) -> Value:
    return fully_connected_int4_vectors.draw_fine_steps(d, Element.INT16)


KERNEL = fully_connected_vectors.kernel_of(Element.INT16, nibbles=True)


class FullyConnectedInt4VectorsInt16(FullyConnectedInt4Vectors):
    """`FullyConnectedInt4Vectors` of int16, with 8 inputs in a vector: bytes are widened where they are loaded."""

    name = "fully_connected_int4_vectors_int16"
    like = fully_connected.INT4_INT16
    element = Element.INT16
    draws = (_draw, _draw_whole_blocks, _draw_rows, _draw_fine_steps)
    symbol = Symbol(KERNEL, helpers=HELPERS)
