"""Linear layer of int16, row by row, as products with blocks of 8 channels, for cores with MVE."""

from __future__ import annotations

from ...format.element import Element
from ...ops import fully_connected
from ..implementation import Symbol
from . import fully_connected_vectors
from .drawing import typed
from .fully_connected_vectors import HELPERS, FullyConnectedVectors

KERNEL = fully_connected_vectors.kernel_of(Element.INT16)


class FullyConnectedVectorsInt16(FullyConnectedVectors):
    """`FullyConnectedVectors` of int16, with 8 inputs in a vector: weights are widened where they are loaded."""

    name = "fully_connected_vectors_int16"
    like = fully_connected.INT16
    element = Element.INT16
    draws = typed(FullyConnectedVectors.draws, element=Element.INT16)
    symbol = Symbol(KERNEL, helpers=HELPERS)
