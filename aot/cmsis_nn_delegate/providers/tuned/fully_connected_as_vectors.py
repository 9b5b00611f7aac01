"""Linear layer of several rows as a pointwise convolution, for cores with MVE."""

from __future__ import annotations

from typing import ClassVar

from ...format.element import Element
from ...format.schema import Isa
from ...graph.ir import Node
from ...ops import fully_connected, storage
from ...ops.op import Draw
from . import fully_connected_as_conv2d, vector_table
from .drawing import typed
from .fully_connected_as_conv2d import FullyConnectedAsConv2d

# Products of four rows take 14 instructions, of which one row would take 19 / 4 for itself.
_LEAST_ROWS = 3


class FullyConnectedAsVectors(FullyConnectedAsConv2d):
    """By `conv2d_vectors`, whose products are of four rows: fewer are for `fully_connected_vectors`."""

    name = "fully_connected_as_vectors"
    isas = frozenset({Isa.MVE})
    assumes = "three rows or more, two or more outputs, and shifts to the right"
    draws: ClassVar[tuple[Draw, ...]] = (fully_connected_as_conv2d.draw, fully_connected_as_conv2d.draw_image)

    def why_not(self, node: Node) -> str:
        rows = storage.rows_of(node.inputs[0], node.inputs[1].shape[1])
        if rows < _LEAST_ROWS:
            return f"it would compute {rows} of the 4 rows of a product"
        return super().why_not(node)


class FullyConnectedAsVectorsInt16(FullyConnectedAsVectors):
    """The same of int16, by `conv2d_vectors_int16`."""

    name = "fully_connected_as_vectors_int16"
    like = fully_connected.INT16
    draws = typed(FullyConnectedAsVectors.draws, element=Element.INT16)


class FullyConnectedInt4AsVectors(FullyConnectedAsVectors):
    """The same with weights of 4 bits, by `conv2d_int4_vectors`."""

    name = "fully_connected_int4_as_vectors"
    like = fully_connected.INT4
    assumes = (
        "three rows or more, two or more outputs, shifts to the right, and sums for inputs of 0 of "
        f"{vector_table.START_BITS} bits"
    )
    draws = typed((fully_connected_as_conv2d.draw,), weights=Element.INT4)


class FullyConnectedInt4AsVectorsInt16(FullyConnectedAsVectors):
    """The same of int16, by `conv2d_int4_vectors_int16`."""

    name = "fully_connected_int4_as_vectors_int16"
    like = fully_connected.INT4_INT16
    assumes = f"three rows or more, two or more outputs, and biases of {vector_table.START_BITS} bits"
    draws = typed((fully_connected_as_conv2d.draw,), element=Element.INT16, weights=Element.INT4)
