"""The linear layers of `fully_connected_vectors_int16` with weights of 4 bits, for cores with MVE."""

from __future__ import annotations

from ...format.element import Element
from ...ops import fully_connected
from ..implementation import Symbol
from . import fully_connected_vectors
from .drawing import typed
from .fully_connected_int4_vectors import DRAWS, FullyConnectedInt4Vectors, draw_fine_steps
from .fully_connected_vectors import HELPERS

KERNEL = fully_connected_vectors.kernel_of(Element.INT16, nibbles=True)


class FullyConnectedInt4VectorsInt16(FullyConnectedInt4Vectors):
    """`FullyConnectedInt4Vectors` of int16, with 8 inputs in a vector: bytes are widened where they are loaded."""

    name = "fully_connected_int4_vectors_int16"
    like = fully_connected.INT4_INT16
    element = Element.INT16
    draws = (
        *typed(DRAWS, element=Element.INT16, weights=Element.INT4),
        *typed((draw_fine_steps,), element=Element.INT16),
    )
    symbol = Symbol(KERNEL, helpers=HELPERS)
