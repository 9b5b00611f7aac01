"""Linear layer of int16 as a pointwise convolution, for cores with DSP."""

from __future__ import annotations

from ...format.element import Element
from ...format.schema import Isa
from ...ops import fully_connected
from .drawing import typed
from .fully_connected_as_conv2d import FullyConnectedAsConv2d


class FullyConnectedAsConv2dInt16(FullyConnectedAsConv2d):
    """`FullyConnectedAsConv2d` of int16."""

    name = "fully_connected_as_conv2d_int16"
    like = fully_connected.INT16
    isas = frozenset({Isa.DSP})
    assumes = "several rows or few outputs, whose steps are at least four times those of sums"
    draws = typed(FullyConnectedAsConv2d.draws, element=Element.INT16)
