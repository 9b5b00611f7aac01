"""Linear layer with weights of 4 bits as a pointwise convolution, for cores with DSP."""

from __future__ import annotations

from ...format.element import Element
from ...format.schema import Isa
from ...graph.ir import Value
from ...ops import fully_connected
from ...ops.case import Case
from . import fully_connected_as_conv2d
from .fully_connected_as_conv2d import FullyConnectedAsConv2d


def _draw(d: Case) -> Value:
    return fully_connected_as_conv2d.draw(d, weights=Element.INT4)


def _draw_few_outputs(d: Case) -> Value:
    return fully_connected_as_conv2d.draw_few_outputs(d, weights=Element.INT4)


class FullyConnectedInt4AsConv2d(FullyConnectedAsConv2d):
    """`FullyConnectedAsConv2d` by conv2d_int4_pairs."""

    name = "fully_connected_int4_as_conv2d"
    like = fully_connected.INT4
    isas = frozenset({Isa.DSP})
    assumes = (
        "several rows or few outputs, and sums and products of 19 bits that fit one of the forms of requantization"
    )
    draws = (_draw, _draw_few_outputs)
