"""Depthwise convolution of 3 x 3 taps, 2 pixels by 8 channels at a time, for cores with MVE."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ...format.element import Element
from ...format.schema import Isa
from ...graph.ir import Node, Value
from ...ops import depthwise_conv2d
from ...ops.attrs import Padding
from ...ops.case import Case
from ...ops.features import Features, blocks_of
from ...ops.geometry import Geometry
from ...ops.kernel import KernelSpec
from ...ops.op import Draw
from ..implementation import OwnImplementation, Symbol
from . import block_args, depthwise_3x3, row_order, vector_requantization
from .vector_requantization import VectorForm

_KERNEL = (3, 3)
CHANNELS = 8  # of a block
_WORDS = 42  # of a block in the table
_MOST_OF_ONE_TAP = 32  # channels
# It copies rows of inputs.
HELPER = "runtime/kernels/common/vector_products_{isa}.S"
# Taps whose products are added in 16 bits.
_PAIRS = ((0, 1), (2, 3), (4, 5), (6, 7))


def _draw(d: Case, size: tuple[int, int], padding: Padding, weights: Element) -> Value:
    x = d.input(d.batch(), d.pick(d.integer(8, 34), 8 * d.integer(1, 6)), *size)
    return d.maybe_relu(
        d.depthwise_conv2d(x, 1, kernel=_KERNEL, stride=d.pair(1, 2), padding=padding, clamp=d.clamp(), element=weights)
    )


def draw_small(d: Case, weights: Element = Element.INT8) -> Value:
    return _draw(d, d.pair(3, 9), d.padding(_KERNEL), weights)


def draw_large(d: Case, weights: Element = Element.INT8) -> Value:
    return _draw(d, (d.integer(3, 12), d.integer(10, 30)), d.padding(_KERNEL), weights)


def draw_smaller_window(d: Case, weights: Element = Element.INT8) -> Value:
    return depthwise_3x3.draw_smaller_window(d, weights=weights)


def draw_padding_beyond_the_kernel(d: Case, weights: Element = Element.INT8) -> Value:
    return _draw(d, d.pair(3, 8), Padding(*d.pair(0, 5), *d.pair(0, 5)), weights)


KERNEL = KernelSpec(
    "depthwise_conv2d_vectors",
    block_args.struct(
        "DepthwiseConv2dVectorsArgs",
        "int8 depthwise convolution of 3 x 3 taps, as depthwise_conv2d computes it, vector by vector.",
        table="for each 8 channels, first the even and then the odd ones: 8 sums for inputs of 0, the weights of "
        "each tap for all channels in order, 4 multipliers, 4 shifts, 4 multipliers, 4 shifts. The last block has "
        "the last 8 channels",
        block_count="output_dims.c / 8, rounded up",
        block_words=f"{_WORDS}",
        forms=VectorForm,
    ),
)


class DepthwiseConv2dVectors(OwnImplementation):
    """Products of int8 are added two by two in 16 bits before they are widened. The three rows of inputs that a row of
    outputs needs are kept in scratch memory, with the padding; the next row of outputs takes over what it shares with
    them. The zero point of the input is part of the bias.
    """

    name = "depthwise_conv2d_vectors"
    op = "depthwise_conv2d"
    like = depthwise_conv2d.KERNEL
    isas = frozenset({Isa.MVE})
    assumes = (
        "windows of at most 3 x 3, strides 1 and 2, as many output as input channels, 8 or more, and shifts to the "
        "right"
    )
    draws: ClassVar[tuple[Draw, ...]] = (draw_small, draw_large, draw_padding_beyond_the_kernel, draw_smaller_window)

    symbol = Symbol(
        KERNEL,
        helpers=("runtime/kernels/depthwise_conv2d/channel_vectors_{isa}.S", HELPER),
    )
    block_words: ClassVar[int] = _WORDS

    def legal(self, node: Node) -> Node:
        return depthwise_3x3.whole(node)

    def why_not(self, node: Node) -> str:
        channels = node.inputs[0].shape[1]
        if tuple(node.inputs[1].shape[2:]) == (1, 1) and channels > _MOST_OF_ONE_TAP:
            return f"CMSIS-NN is as fast for a single tap of more than {_MOST_OF_ONE_TAP} channels"
        node = self.legal(node)
        if tuple(node.inputs[1].shape[2:]) != _KERNEL or tuple(node.attrs.dilation) != (1, 1):
            return "it computes windows of at most 3 x 3"
        if max(node.attrs.stride) > 2:
            return "it computes strides 1 and 2"
        if node.inputs[1].shape[0] != channels:
            return "it computes as many output as input channels"
        if channels < CHANNELS:
            return f"it computes {CHANNELS} channels or more"
        if Geometry.plain(node).output[1] == 1:
            return "CMSIS-NN is as fast for a single column"
        weights = np.abs(weights_of(node).astype(np.int64))
        if any((weights[a] + weights[b] > 255).any() for a, b in _PAIRS):
            return "two weights of -128 side by side"
        return vector_requantization.why_not(node) or block_args.why_not(node)

    def scratch_bytes(self, node: Node) -> int:
        """Three rows for an even number of outputs, and a pixel of padding."""
        columns = (-(-Geometry.plain(node).output[1] // 2) * 2 - 1) * int(node.attrs.stride[1]) + _KERNEL[1]
        return -(-(_KERNEL[0] * columns + 1) * int(node.inputs[0].shape[1]) // 16) * 16

    def features(self, node: Node, scratch_bytes: int) -> Features:
        geometry = Geometry.plain(node)
        channels, (rows, columns) = int(node.inputs[1].shape[0]), geometry.output
        lines, blocks = geometry.batch * rows, blocks_of(channels, CHANNELS)
        copied = geometry.batch * ((rows - 1) * min(geometry.stride[0], _KERNEL[0]) + _KERNEL[0])
        form = vector_requantization.form_of(node).name
        pairs = lines * blocks * blocks_of(columns, 2)
        return Features(
            {
                "lines": lines,
                "blocks of lines": lines * blocks,
                "pairs of outputs": pairs,
                f"pairs of outputs of form {form}": pairs,
                "lines copied": copied,
                "inputs copied": copied * geometry.input[1] * channels,
                "padding copied": copied * sum(geometry.padding) * channels,
            },
            f"stride {geometry.stride[1]}",
        )

    def distance(self, node: Node) -> int:
        return row_order.distance(Geometry.plain(node), node.inputs[0].shape[1])

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        return {"table": table(node)}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return block_args.encode(
            node,
            refs,
            scratch_bytes,
            blocks=-(-int(node.inputs[1].shape[0]) // CHANNELS),
            block_words=self.block_words,
            form=vector_requantization.form_of(node),
        )


def table(node: Node, first: slice = slice(0, None, 2), second: slice = slice(1, None, 2)) -> np.ndarray:
    """Returns int32 [blocks, words] for a depthwise convolution of any taps, of at least 8 channels: for each 8 of them
    sums for inputs of 0, weights, multipliers and shifts. The last block has the last 8. `first` and `second` are the
    channels of a block that lie in its first and second vectors of 32 bits."""
    start, members = starts(node), members_of(node)
    multiplier, shift = vector_requantization.scales(node)
    halves = members[:, first], members[:, second]
    weights = weights_of(node)[:, members].transpose(1, 0, 2)
    taps = np.ascontiguousarray(weights).reshape(len(members), -1).view("<i4")
    scales = [array[half] for half in halves for array in (multiplier, shift)]
    return np.concatenate([*(start[half].astype(np.int32) for half in halves), taps, *scales], 1)


def starts(node: Node) -> np.ndarray:
    """Returns what every window has in common, the bias and the zero point of the input: int64 [channels]."""
    sums = weights_of(node).sum(0, dtype=np.int64)
    return np.asarray(node.inputs[2].constant - node.inputs[0].zero_point * sums, np.int64)


def members_of(node: Node) -> np.ndarray:
    """Returns the channels of each block, [blocks, CHANNELS]: the last one has the last ones."""
    channels = int(node.inputs[1].shape[0])
    firsts = [min(first, channels - CHANNELS) for first in range(0, channels, CHANNELS)]
    return np.asarray(np.array(firsts)[:, None] + np.arange(CHANNELS))


def weights_of(node: Node) -> np.ndarray:
    """int8 [taps, channels]."""
    weights = node.inputs[1].constant[:, 0]
    return np.ascontiguousarray(weights.reshape(len(weights), -1).T)
