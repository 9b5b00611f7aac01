"""Depthwise convolution of windows of any size, 2 pixels by 8 channels at a time, for cores with MVE."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...format.element import Element
from ...graph.ir import Node
from ...ops import depthwise_conv2d
from ...ops.kernel import KernelSpec
from ..implementation import Symbol
from . import block_args, depthwise_conv2d_vectors
from .depthwise_conv2d_vectors import HELPER
from .depthwise_conv2d_vectors_int16 import SCALE_WORDS, DepthwiseConv2dVectorsInt16
from .drawing import typed
from .vector_requantization import VectorForm

KERNEL = KernelSpec(
    "depthwise_conv2d_tap_vectors",
    block_args.struct(
        "DepthwiseConv2dTapVectorsArgs",
        "int8 depthwise convolution of any taps, as depthwise_conv2d computes it, vector by vector.",
        table="for each 8 channels, first the even and then the odd ones: 8 sums for inputs of 0, the weights of "
        "each tap for all channels in order, 4 multipliers, 4 shifts, 4 multipliers, 4 shifts. The last block has "
        "the last 8 channels",
        block_count="output_dims.c / 8, rounded up",
        block_words=f"{SCALE_WORDS}, and twice the taps",
        forms=VectorForm,
    ),
)


class DepthwiseConv2dTapVectors(DepthwiseConv2dVectorsInt16):
    """`DepthwiseConv2dVectorsInt16` of int8: products of two neighbouring taps of a row are added in 16 bits before
    they are widened; of an odd number of taps the first one is widened alone. The zero point of the input is part of
    the bias.
    """

    name = "depthwise_conv2d_tap_vectors"
    op = "depthwise_conv2d"
    like = depthwise_conv2d.KERNEL
    assumes = "as many output as input channels, 8 or more, and shifts to the right"
    draws = typed(DepthwiseConv2dVectorsInt16.draws, element=Element.INT8)
    symbol = Symbol(KERNEL, helpers=("runtime/kernels/depthwise_conv2d/channel_windows_{isa}.S", HELPER))

    def why_not(self, node: Node) -> str:
        reason = super().why_not(node)
        if reason:
            return reason
        weights = np.abs(np.asarray(node.inputs[1].constant[:, 0], np.int64))
        paired = weights[:, :, weights.shape[2] % 2 :]
        if (paired[:, :, 0::2] + paired[:, :, 1::2] > 255).any():
            return "two weights of -128 side by side"
        return ""

    def _taps(self, width: int, shared: bool) -> tuple[Mapping[str, int], str]:
        return {"pairs of taps": width // 2, "single taps": width % 2}, "shared columns" if shared else ""

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        return {"table": depthwise_conv2d_vectors.table(node)}
