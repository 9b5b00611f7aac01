"""Linear layer with weights of 4 bits as a pointwise convolution, for cores with DSP."""

from __future__ import annotations

from ...format.element import Element
from ...format.schema import Isa
from ...ops import fully_connected
from . import fully_connected_as_conv2d
from .drawing import typed
from .fully_connected_as_conv2d import FullyConnectedAsConv2d

DRAWS = (fully_connected_as_conv2d.draw, fully_connected_as_conv2d.draw_few_outputs)


class FullyConnectedInt4AsConv2d(FullyConnectedAsConv2d):
    """`FullyConnectedAsConv2d` by conv2d_int4_pairs."""

    name = "fully_connected_int4_as_conv2d"
    like = fully_connected.INT4
    isas = frozenset({Isa.DSP})
    assumes = (
        "several rows or few outputs, and sums and products of 19 bits that fit one of the forms of requantization"
    )
    draws = typed(DRAWS, weights=Element.INT4)
