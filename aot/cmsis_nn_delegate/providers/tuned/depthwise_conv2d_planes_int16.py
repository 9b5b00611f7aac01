"""Depthwise convolution of int16 of 3 x 3 taps by planes, for cores with DSP and without MVE."""

from __future__ import annotations

import numpy as np

from ...format.element import Element
from ...graph.ir import Node
from ...ops import conv2d
from ..implementation import Symbol
from . import depthwise_3x3, depthwise_conv2d_planes, requantization, requantization_int16
from .depthwise_conv2d_planes import FLOOR, DepthwiseConv2dPlanes
from .drawing import typed
from .requantization import Form


class DepthwiseConv2dPlanesInt16(DepthwiseConv2dPlanes):
    """`DepthwiseConv2dPlanes` of int16, which is a conv2d with as many groups as channels. Planes are the same, and
    filled in fewer instructions."""

    name = "depthwise_conv2d_planes_int16"
    op = "conv2d"
    like = conv2d.LARGE_INT16
    assumes = (
        "windows of at most 3 x 3, stride 1 or 2, one channel a group, as many output as input channels, and outputs "
        "whose steps are at least four times those of sums"
    )
    draws = typed(depthwise_3x3.DRAWS, element=Element.INT16)
    symbol = Symbol(depthwise_conv2d_planes.INT16, helpers=("runtime/kernels/common/channel_planes_int16_{isa}.S",))

    def why_not(self, node: Node) -> str:
        depth = node.inputs[1].shape[1]
        if depth != 1:
            return f"it computes one channel a group, not {depth}"
        return super().why_not(node)

    def why_inexact(self, node: Node) -> str:
        return requantization_int16.why_none(node)

    def scales(self, node: Node) -> tuple[np.ndarray, np.ndarray]:
        shift, multiplier, _ = requantization_int16.table(node).T
        floor = self.forms(node) == Form.FLOOR
        return np.where(floor, shift + 2 | FLOOR, shift), multiplier

    def forms(self, node: Node) -> np.ndarray:
        largest = requantization.largest_sums(node, node.inputs[1].constant, node.inputs[2].constant.astype(np.int64))
        return requantization_int16.forms_in_one_word(node, largest)
