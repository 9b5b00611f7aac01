"""The depthwise convolution of `depthwise_conv2d_vectors` with weights of 4 bits, for cores with MVE."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ...format.element import Element
from ...graph.ir import Node
from ...ops import depthwise_conv2d
from ...ops.kernel import KernelSpec
from ..implementation import Symbol
from . import block_args, depthwise_conv2d_vectors, vector_requantization, vector_table
from .depthwise_conv2d_vectors import HELPER, DepthwiseConv2dVectors
from .drawing import typed
from .vector_requantization import VectorForm

_WORDS = 26  # of a block in the table
_DRAWS = (
    depthwise_conv2d_vectors.draw_small,
    depthwise_conv2d_vectors.draw_large,
    depthwise_conv2d_vectors.draw_padding_beyond_the_kernel,
)

KERNEL = KernelSpec(
    "depthwise_conv2d_int4_vectors",
    block_args.struct(
        "DepthwiseConv2dInt4VectorsArgs",
        "int8 depthwise convolution of 3 x 3 taps, as depthwise_conv2d_int4 computes it, vector by vector.",
        table="for each 8 channels: 8 bytes for each two taps, of which each has the weight of a channel for the first "
        "in its lower half and for the second in its upper half; 8 bytes with the weights of the last tap; for the "
        "even and then for the odd channels 4 words with the shift in the lowest 6 bits and the sum for inputs of 0 in "
        "the others, and 4 multipliers. The last block has the last 8 channels",
        block_count="output_dims.c / 8, rounded up",
        block_words=f"{_WORDS}",
        forms=VectorForm,
    ),
    priced_as="depthwise_conv2d_vectors",
)


class DepthwiseConv2dInt4Vectors(DepthwiseConv2dVectors):
    """Like depthwise_conv2d_vectors. The products of all nine taps fit into 16 bits together, so that they are widened
    once for a window."""

    name = "depthwise_conv2d_int4_vectors"
    like = depthwise_conv2d.INT4
    draws = typed(_DRAWS, weights=Element.INT4)
    symbol = Symbol(KERNEL, helpers=("runtime/kernels/depthwise_conv2d/channel_nibble_vectors_{isa}.S", HELPER))
    assumes = DepthwiseConv2dVectors.assumes + f", and sums for inputs of 0 of {vector_table.START_BITS} bits"
    block_words = _WORDS

    def why_not(self, node: Node) -> str:
        starts = depthwise_conv2d_vectors.starts(self.legal(node))
        return super().why_not(node) or vector_table.why_not_joined(starts)

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        members = depthwise_conv2d_vectors.members_of(node)
        multiplier, shift = vector_requantization.scales(node)
        words = vector_table.joined(depthwise_conv2d_vectors.starts(node), shift)
        weights = depthwise_conv2d_vectors.weights_of(node)[:, members].transpose(1, 0, 2)  # [block, tap, channel]
        nibbles = weights.astype(np.uint8) & 0xF
        taps = np.concatenate([nibbles[:, :8:2] | nibbles[:, 1:8:2] << 4, weights[:, 8:].astype(np.uint8)], axis=1)
        scales = [array.astype(np.int32)[members[:, odd::2]] for odd in (0, 1) for array in (words, multiplier)]
        return {"table": np.concatenate([taps.reshape(len(members), -1).view("<i4"), *scales], axis=1)}
