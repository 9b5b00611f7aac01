"""Linear layer of int16 with weights of 4 bits as a pointwise convolution, for cores with DSP and without MVE."""

from __future__ import annotations

from ...format.element import Element
from ...ops import fully_connected
from .drawing import typed
from .fully_connected_as_conv2d_int16 import FullyConnectedAsConv2dInt16
from .fully_connected_int4_as_conv2d import DRAWS


class FullyConnectedInt4AsConv2dInt16(FullyConnectedAsConv2dInt16):
    """`FullyConnectedAsConv2dInt16` by conv2d_int4_pairs_int16."""

    name = "fully_connected_int4_as_conv2d_int16"
    like = fully_connected.INT4_INT16
    assumes = "several rows or few outputs, and sums of 31 bits, in steps of the output if these are finer"
    draws = typed(DRAWS, element=Element.INT16, weights=Element.INT4)
