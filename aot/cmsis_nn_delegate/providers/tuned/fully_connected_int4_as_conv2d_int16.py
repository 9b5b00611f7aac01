"""Linear layer of int16 with weights of 4 bits as a pointwise convolution, for cores with DSP and without MVE."""

from __future__ import annotations

from ...format.element import Element
from ...graph.ir import Value
from ...ops import fully_connected
from ...ops.case import Case
from . import fully_connected_as_conv2d
from .fully_connected_as_conv2d_int16 import FullyConnectedAsConv2dInt16


def _draw(d: Case) -> Value:
    return fully_connected_as_conv2d.draw(d, Element.INT16, Element.INT4)


def _draw_few_outputs(d: Case) -> Value:
    return fully_connected_as_conv2d.draw_few_outputs(d, Element.INT16, Element.INT4)


class FullyConnectedInt4AsConv2dInt16(FullyConnectedAsConv2dInt16):
    """`FullyConnectedAsConv2dInt16` by conv2d_int4_pairs_int16."""

    name = "fully_connected_int4_as_conv2d_int16"
    like = fully_connected.INT4_INT16
    assumes = "several rows or few outputs, and sums of 31 bits, in steps of the output if these are finer"
    draws = (_draw, _draw_few_outputs)
