"""Linear layer of int16 as a pointwise convolution, for cores with DSP or MVE."""

from __future__ import annotations

from ...format.element import Element
from ...format.schema import Isa
from ...graph.ir import Node, Value
from ...ops import fully_connected, storage
from ...ops.case import Case
from . import fully_connected_as_conv2d
from .fully_connected_as_conv2d import FullyConnectedAsConv2d

# A product of four rows takes 14 instructions for 64 products, one of a single row 19.
_LEAST_ROWS = 3


def _draw(d: Case) -> Value:
    return fully_connected_as_conv2d.draw(d, Element.INT16)


def _draw_few_outputs(d: Case) -> Value:
    return fully_connected_as_conv2d.draw_few_outputs(d, Element.INT16)


def _draw_image(d: Case) -> Value:
    return fully_connected_as_conv2d.draw_image(d, Element.INT16)


class FullyConnectedAsConv2dInt16(FullyConnectedAsConv2d):
    """`FullyConnectedAsConv2d` of int16."""

    name = "fully_connected_as_conv2d_int16"
    like = fully_connected.INT16
    isas = frozenset({Isa.DSP})
    assumes = "several rows or few outputs, whose steps are at least four times those of sums"
    draws = (_draw, _draw_few_outputs, _draw_image)


class FullyConnectedAsVectorsInt16(FullyConnectedAsConv2d):
    """The same by conv2d_vectors_int16, whose products are of four rows: fewer are for
    `fully_connected_vectors_int16`."""

    name = "fully_connected_as_vectors_int16"
    like = fully_connected.INT16
    isas = frozenset({Isa.MVE})
    assumes = "three rows or more, two or more outputs, and shifts to the right"
    draws = (_draw, _draw_image)

    def why_not(self, node: Node) -> str:
        rows = storage.rows_of(node.inputs[0], node.inputs[1].shape[1])
        if rows < _LEAST_ROWS:
            return f"it would compute {rows} of the 4 rows of a product"
        return super().why_not(node)
