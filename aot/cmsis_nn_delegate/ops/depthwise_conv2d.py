"""int8 depthwise convolution: one input channel per group."""

from __future__ import annotations

from ..payload.schema import Opcode
from .op import Op


class DepthwiseConv2d(Op):
    """See the module docstring."""

    name = "depthwise_conv2d"
    opcode = Opcode.DEPTHWISE_CONV2D
