"""Convolution of int16 with sums of 64 bits as a product of 4 pixels by 2 channels, for cores with MVE."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ...format.element import Element
from ...graph.ir import Node, Value
from ...ops import conv2d_wide, per_channel_requantize
from ...ops.attrs import ConvAttrs, Padding
from ...ops.case import Case
from ...ops.features import Features, blocks_of
from ...ops.kernel import KernelSpec
from ...ops.op import Draw
from ...ops.quantized_math import reduced_multiplier
from ..implementation import Symbol
from . import block_args, vector_table
from .conv2d_vectors import HELPERS, Conv2dVectors, weights_of
from .vector_requantization import VectorForm
from .vector_table import CHANNELS

_VECTOR = 8  # inputs
_TURN = 32  # inputs of four vectors
_TURNS = 15  # whose products fit 32 bits, whatever they are
_SCALE_WORDS = 8  # of a block
_MOST_INPUTS = 1 << 24
_MOST_CHANNELS = 1 << 13


def _draw_windows(d: Case) -> Value:
    kernel = d.pair(1, 4)
    x = d.image(d.batch(), d.channels(), kernel, element=Element.INT16)
    return conv2d_wide.draw_layer(d, x, kernel, ConvAttrs(d.pair(1, 3), d.padding(kernel), clamp=d.clamp()), least=2)


def _draw_deep(d: Case) -> Value:
    """More turns than are added up in 32 bits."""
    x = d.input(d.batch(), d.pick(d.integer(50, 60), d.integer(100, 120)), *d.pair(3, 5), element=Element.INT16)
    return conv2d_wide.draw_layer(d, x, (3, 3), ConvAttrs(d.pair(1, 2), d.padding((3, 3)), clamp=d.clamp()), least=2)


def _draw_first(d: Case) -> Value:
    """Of few channels, so that 16 bytes hold a line of a window, in several tiles."""
    x = d.input(
        d.batch(), d.integer(1, 4), d.integer(4, 8), d.pick(d.integer(4, 8), d.integer(16, 24)), element=Element.INT16
    )
    kernel = d.integer(2, 5), d.integer(1, 3)
    return conv2d_wide.draw_layer(d, x, kernel, ConvAttrs(d.pair(1, 2), d.padding(kernel), clamp=d.clamp()), least=2)


def _draw_pointwise(d: Case) -> Value:
    inputs = d.pick(d.channels(), _TURN * d.integer(1, 32), d.integer(470, 1000))
    x = d.input(d.batch(), inputs, *d.pair(1, 4), element=Element.INT16)
    stride = d.pick((1, 1), (1, 1), d.pair(1, 3))
    padding = d.pick(Padding(), Padding(0, 0, d.integer(0, 2), d.integer(0, 2)))
    return conv2d_wide.draw_layer(d, x, (1, 1), ConvAttrs(stride, padding, clamp=d.clamp()), least=2)


def _draw_padding_beyond_the_kernel(d: Case) -> Value:
    kernel = d.pair(1, 3)
    x = d.image(d.batch(), d.channels(), kernel, extra=3, element=Element.INT16)
    attrs = ConvAttrs(d.pair(1, 3), Padding(*d.pair(0, 4), *d.pair(0, 4)), clamp=d.clamp())
    return conv2d_wide.draw_layer(d, x, kernel, attrs, least=2)


KERNEL = KernelSpec(
    "conv2d_wide_vectors_int16",
    block_args.struct(
        "Conv2dWideVectorsInt16Args",
        "int16 convolution of one group, as conv2d_wide_int16 computes it, from weights in the order of the products.",
        table="for each 2 channels: 8 weights of the first and 8 of the second for each 8 inputs of a window; for each "
        "channel the bias times the multiplier and half a step, int64, the multiplier, of 15 bits, and the shift to "
        "the right. Inputs are in the order [w, h, c], or [h, w, c] if lines of a window have at most 8 inputs and "
        "there are several; the last block has the last 2 channels",
        block_count="output_dims.c / 2, rounded up",
        block_words="8, and the inputs of a window rounded up to 32, divided by 2",
        forms=VectorForm,
        element=Element.INT16,
    ),
)


class Conv2dWideVectorsInt16(Conv2dVectors):
    """Products of 480 inputs fit 32 bits whatever they are: sums of so many are those of `Conv2dVectors`. The halves of
    each are added to sums of their own, of which the result is computed at the end, in scalar instructions of 64 bits.
    """

    name = "conv2d_wide_vectors_int16"
    op = "conv2d_wide"
    like = conv2d_wide.KERNEL
    element = Element.INT16
    vector = _TURN
    assumes = "one group without gaps in its windows, two or more output channels, and results of 31 bits"
    draws: ClassVar[tuple[Draw, ...]] = (
        _draw_windows,
        _draw_deep,
        _draw_first,
        _draw_pointwise,
        _draw_padding_beyond_the_kernel,
    )
    symbol = Symbol(KERNEL, helpers=(*HELPERS, "runtime/kernels/conv2d_wide/wide_vectors_int16_{isa}.S"))

    def why_not(self, node: Node) -> str:
        channels = node.inputs[1].shape[0]
        if node.attrs.groups != 1:
            return f"it computes one group, not {node.attrs.groups}"
        if tuple(node.attrs.dilation) != (1, 1):
            return "windows have gaps"
        if not 2 <= channels <= _MOST_CHANNELS:
            return f"it computes 2 to {_MOST_CHANNELS} channels, not {channels}"
        if math.prod(node.inputs[1].shape[1:]) >= _MOST_INPUTS:
            return f"a window has {_MOST_INPUTS} inputs or more"
        largest, (multiplier, shift) = _largest_sums(node), _scales(node)
        if any(
            int(most) * int(factor) >> int(right) >= 1 << 30 for most, factor, right in zip(largest, multiplier, shift)
        ):
            return "a result may exceed 31 bits before it is limited"
        return block_args.why_not(node)

    def features(self, node: Node, scratch_bytes: int) -> Features:
        counts, path = self._loops(node)
        turns = self._depth(node) // _TURN
        blocks = counts["blocks"]
        return Features({**counts, "turns": blocks * turns, "sums of 32 bits": blocks * blocks_of(turns, _TURNS)}, path)

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        weights = weights_of(node, self._by_lines(node))
        channels, inputs = weights.shape
        padded = np.zeros((channels, self._depth(node)), np.int8)
        padded[:, :inputs] = weights
        multiplier, shift = _scales(node)
        start = node.inputs[2].constant.astype(np.int64) * multiplier + (np.int64(1) << (shift - 1))
        scales = np.stack(
            [start.astype("<i8").view("<i4")[0::2], start.astype("<i8").view("<i4")[1::2], multiplier, shift]
        )
        firsts = [min(first, channels - CHANNELS) for first in range(0, channels, CHANNELS)]
        members = np.array(firsts)[:, None] + np.arange(CHANNELS)  # [block, channel]
        products = padded[members].reshape(len(firsts), CHANNELS, -1, _VECTOR).transpose(0, 2, 1, 3)
        words = np.ascontiguousarray(products).reshape(len(firsts), -1).view("<i4")
        of_blocks = scales.astype(np.int32)[:, members].transpose(1, 2, 0).reshape(len(firsts), -1)
        return {"table": np.concatenate([words, of_blocks], axis=1)}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return block_args.encode(
            node,
            refs,
            scratch_bytes,
            blocks=vector_table.blocks(int(node.inputs[1].shape[0])),
            block_words=_SCALE_WORDS + self._depth(node) // 2,
            form=VectorForm.ANY,
        )


def _scales(node: Node) -> tuple[np.ndarray, np.ndarray]:
    """Returns the multiplier of 15 bits and the shift to the right of each channel, int64."""
    multiplier, shift = per_channel_requantize.output_multipliers(node)
    return np.asarray(reduced_multiplier(multiplier), np.int64), 15 - shift.astype(np.int64)


def _largest_sums(node: Node) -> np.ndarray:
    """Returns how large the sum of each channel can be, int64."""
    weights = node.inputs[1].constant.astype(np.int64)
    magnitudes = np.abs(weights.reshape(len(weights), -1)).sum(axis=1)
    bias = np.abs(node.inputs[2].constant.astype(np.int64))
    return np.asarray(magnitudes * -Element.INT16.low + bias, np.int64)
