"""Depthwise convolution of int16 of up to 5 x 5 taps by planes, for cores with DSP and without MVE."""

from __future__ import annotations

import numpy as np

from ...format.element import Element
from ...graph.ir import Node
from ...ops import conv2d
from ...ops.kernel import KernelSpec
from ..implementation import Symbol
from . import depthwise_conv2d_5x5
from .depthwise_conv2d_5x5 import DepthwiseConv2d5x5
from .depthwise_conv2d_planes_int16 import DepthwiseConv2dPlanesInt16
from .drawing import typed

KERNEL = KernelSpec(
    "depthwise_conv2d_5x5_int16",
    depthwise_conv2d_5x5.struct(
        "DepthwiseConv2d5x5Int16Args",
        "int16 depthwise convolution of five taps in up to five rows, as conv2d_int16 computes it, by planes of "
        "channels.",
        Element.INT16,
    ),
    priced_as=depthwise_conv2d_5x5.KERNEL.name,
)


class DepthwiseConv2d5x5Int16(DepthwiseConv2d5x5):
    """`DepthwiseConv2d5x5` of int16, which is a conv2d with as many groups as channels. Planes are the same, and filled
    in fewer instructions; results are requantized as those of `DepthwiseConv2dPlanesInt16`."""

    name = "depthwise_conv2d_5x5_int16"
    op = "conv2d"
    like = conv2d.LARGE_INT16
    assumes = (
        "windows of at most 5 x 5 and more than 3 x 3, stride 1 or 2, one channel a group, as many output as input "
        "channels, and outputs whose steps are at least four times those of sums"
    )
    draws = typed(DepthwiseConv2d5x5.draws, element=Element.INT16)
    symbol = Symbol(KERNEL, helpers=("runtime/kernels/conv2d/channel_fives_int16_{isa}.S",))

    def why_not(self, node: Node) -> str:
        depth = node.inputs[1].shape[1]
        if depth != 1:
            return f"it computes one channel a group, not {depth}"
        return super().why_not(node)

    def why_inexact(self, node: Node) -> str:
        return _PLANES.why_inexact(node)

    def scales(self, node: Node) -> tuple[np.ndarray, np.ndarray]:
        return _PLANES.scales(node)

    def forms(self, node: Node) -> np.ndarray:
        return _PLANES.forms(node)


_PLANES = DepthwiseConv2dPlanesInt16()
