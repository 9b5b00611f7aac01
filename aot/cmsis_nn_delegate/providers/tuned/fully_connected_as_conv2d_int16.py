"""Linear layer of int16 as a pointwise convolution, for cores with DSP."""

from __future__ import annotations

from typing import ClassVar

from ...format.element import Element
from ...format.schema import Isa
from ...graph.ir import Value
from ...ops import fully_connected
from ...ops.case import Case
from ...ops.op import Draw
from . import fully_connected_as_conv2d
from .fully_connected_as_conv2d import FullyConnectedAsConv2d


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
    draws: ClassVar[tuple[Draw, ...]] = (_draw, _draw_few_outputs, _draw_image)
