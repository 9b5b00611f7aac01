"""Linear layer with weights of 4 bits and sums of more than 19 bits as a pointwise convolution, for cores with DSP."""

from __future__ import annotations

from ...format.element import Element
from ...format.schema import Isa
from ...graph.ir import Value
from ...ops import fully_connected
from ...ops.case import Case
from .fully_connected_as_conv2d import FullyConnectedAsConv2d


def _draw(d: Case) -> Value:
    x = d.input(d.integer(2, 5), d.integer(1200, 4500))
    return d.maybe_relu(
        d.fully_connected(x, d.integer(1, 20), d.clamp(), per_tensor=d.pick(False, True), element=Element.INT4)
    )


class FullyConnectedInt4WideAsConv2d(FullyConnectedAsConv2d):
    """`FullyConnectedAsConv2d` by conv2d_int4_wide_pairs."""

    name = "fully_connected_int4_wide_as_conv2d"
    like = fully_connected.INT4
    isas = frozenset({Isa.DSP})
    assumes = (
        "several rows or few outputs, and sums of more than 19 bits and at most 24 that fit one of the forms of "
        "requantization"
    )
    draws = (_draw,)
