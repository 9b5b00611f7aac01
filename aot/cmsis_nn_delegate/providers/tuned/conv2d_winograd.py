"""Convolution of 3 x 3 taps by Winograd's algorithm, for cores with DSP: speed for flash."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...format.schema import Isa
from ...graph.ir import Node, Value
from ...ops import conv2d
from ...ops.attrs import Padding
from ...ops.case import Case
from ...ops.features import Features, blocks_of
from ...ops.geometry import Geometry
from ...ops.kernel import KernelSpec
from ..implementation import OwnImplementation, Symbol
from . import block_args, requantization
from .requantization import WORDS, Form

_KERNEL = (3, 3)
_CHANNELS = 4  # of a block
_DEPTH = 8  # inputs of a step of the inner loop
_TILES = 2  # side by side
_PRODUCT_BYTES = 16 * _TILES * _CHANNELS * 4
_COPY_PIXELS = 4 * 6
# G of F(2 x 2, 3 x 3), times 2.
_G = np.array([[2, 0, 0], [1, 1, 1], [1, -1, 1], [0, 0, 2]], np.int64)


def _draw_any(d: Case) -> Value:
    x = d.image(d.batch(), d.channels(), (2, 2), extra=9)
    padding = Padding(*(d.integer(0, 1) for _ in range(4)))
    if min(x.shape[2] + padding.top + padding.bottom, x.shape[3] + padding.left + padding.right) < 3:
        padding = Padding(1, 1, 1, 1)
    return d.maybe_relu(d.conv2d(x, d.channels(), _KERNEL, (1, 1), padding, clamp=d.clamp()))


def _draw_read_in_place(d: Case) -> Value:
    """Pixels of whole steps, and tiles that lie in the image."""
    x = d.input(d.batch(), _DEPTH * d.integer(1, 5), d.integer(5, 12), d.integer(7, 16))
    padding = Padding(*(d.integer(0, 1) for _ in range(4)))
    return d.maybe_relu(d.conv2d(x, d.channels(), _KERNEL, (1, 1), padding, clamp=d.clamp()))


KERNEL = KernelSpec(
    "conv2d_winograd",
    block_args.struct(
        "Conv2dWinogradArgs",
        "int8 convolution of 3 x 3 taps and stride 1, as conv2d computes it, from transformed weights.",
        table="for each 4 channels: for each of 16 positions, for each 2 inputs, the int16 weights of these in a "
        "word for each channel; for each channel 4 times the sum for inputs of 0, (shift, multiplier, correction)",
        block_count="output_dims.c / 4, rounded up",
        block_words="32 times the inputs of a pixel, rounded up to 8, and 16",
        forms=Form,
    ),
)


class Conv2dWinograd(OwnImplementation):
    """Transforms 4 x 4 inputs, multiplies with transformed weights, and transforms back to 2 x 2 outputs: 16 products
    for each two channels in the place of 36. The compiler transforms the weights with 2G instead of G, so that all
    numbers are integers, and sums are four times those of the convolution.

    Sums wrap, but everything up to the requantization is linear, so only four times a final sum has to fit 32 bits.
    Transformed weights are at most 9 * 128 and inputs at most 4 * 128, so both fit int16.
    """

    name = "conv2d_winograd"
    op = "conv2d"
    like = conv2d.KERNEL
    isas = frozenset({Isa.DSP})
    grows = True
    assumes = "one group, 3 x 3 taps, stride 1, padding of 0 or 1, and sums that fit one of the forms of requantization"
    draws = (_draw_any, _draw_read_in_place)

    symbol = Symbol(KERNEL, helpers=("runtime/kernels/conv2d/winograd_{isa}.S",))

    def why_not(self, node: Node) -> str:
        if node.attrs.groups != 1:
            return f"it computes one group, not {node.attrs.groups}"
        geometry = Geometry.plain(node)
        if geometry.kernel != _KERNEL or geometry.stride != (1, 1) or geometry.dilation != (1, 1):
            return "it computes 3 x 3 taps of stride 1 without dilation"
        if max(geometry.padding) > 1:
            return "it computes paddings of 0 and 1"
        why = block_args.why_not(node) or requantization.why_none(node, node.inputs[1].constant)
        if not why and (4 * _largest(node) > (1 << 31) - 1).any():
            return "four times a sum may exceed 32 bits"
        return why

    def features(self, node: Node, scratch_bytes: int) -> Features:
        geometry = Geometry.plain(node)
        (height, width), (rows, columns) = geometry.input, geometry.output
        (top, left), depth = geometry.padding, _depth(node.inputs[1].shape[1])
        outputs, inputs = node.inputs[1].shape[:2]
        steps = geometry.batch * -(-rows // 2) * -(-columns // 4)  # of two tiles
        # Those that are not read in place.
        inner_rows = sum(top <= y <= height - 4 + top for y in range(0, rows, 2))
        inner_columns = sum(left <= x <= width - 6 + left for x in range(0, columns, 4))
        copied = steps - (geometry.batch * inner_rows * inner_columns if inputs == depth else 0)
        blocks = steps * blocks_of(outputs, _CHANNELS)
        finished = geometry.batch * -(-rows // 2) * -(-columns // 2) * outputs
        return Features(
            {
                "steps": steps,
                "inputs of 4": steps * depth // 4,
                "steps copied": copied,
                "inputs copied": copied * depth,
                "blocks": blocks,
                "inputs of 8 of blocks": blocks * depth // _DEPTH,
                "tiles of channels": finished,
                "tiles of channels of form ANY": finished if self._form(node) is Form.ANY else 0,
            }
        )

    def scratch_bytes(self, node: Node) -> int:
        """Transformed inputs, products, and a copy of the inputs of two tiles."""
        return _depth(node.inputs[1].shape[1]) * (4 * 16 + _COPY_PIXELS) + _PRODUCT_BYTES

    def distance(self, node: Node) -> int:
        """All inputs of two rows of outputs lie in and below the row of the image in which the first window begins, so
        what has been written at the end of these rows must not lie further on. The difference is linear in the row
        behind the first pair of rows and before the last one, whose outputs may be a single row."""
        geometry = Geometry.plain(node)
        (height, width), (rows, columns) = geometry.input, geometry.output
        outputs, inputs = node.inputs[1].shape[:2]
        last = (rows - 1) // 2 * 2
        most = 0
        for y in {min(max(row, 0), last) for row in (0, 2, last - 2, last)}:
            first = min(max(y - geometry.padding[0], 0), height)
            most = max(most, min(y + 2, rows) * columns * outputs - first * width * inputs)
        growth = rows * columns * outputs - height * width * inputs  # from one image of the batch to the next
        return most + max(growth, 0) * (geometry.batch - 1)

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        weights = node.inputs[1].constant.astype(np.int64)
        outputs, inputs = weights.shape[:2]
        blocks, depth = -(-outputs // _CHANNELS), _depth(inputs)
        transformed = np.zeros((blocks * _CHANNELS, depth, 16), np.int16)
        transformed[:outputs, :inputs] = (_G @ weights @ _G.T).reshape(outputs, inputs, 16)
        # As inputs: of each four the pairs (0, 2) and (1, 3).
        pairs = transformed.reshape(blocks, _CHANNELS, depth // 4, 2, 2, 16)  # [..., pair in word, parity, position]
        words = np.ascontiguousarray(pairs.transpose(0, 5, 2, 4, 1, 3)).reshape(blocks, -1).view("<i4")
        scales = np.zeros((blocks * _CHANNELS, 1 + WORDS), np.int64)
        start = node.inputs[2].constant - node.inputs[0].zero_point * weights.sum((1, 2, 3))
        form = self._form(node)
        scales[:outputs, 0] = 4 * start
        scales[:outputs, 1:] = requantization.table(node, form)
        if form is Form.FLOOR:
            scales[:outputs, 1] -= 2
        # Only four times a whole sum has to fit: parts of it wrap.
        return {"table": np.concatenate([words, scales.astype(np.int32).reshape(blocks, -1)], axis=1)}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        outputs, inputs = node.inputs[1].shape[:2]
        return block_args.encode(
            node,
            refs,
            scratch_bytes,
            blocks=-(-outputs // _CHANNELS),
            block_words=16 * _CHANNELS // 2 * _depth(inputs) + _CHANNELS * (1 + WORDS),
            form=self._form(node),
        )

    def _form(self, node: Node) -> Form:
        return requantization.form(node, node.inputs[1].constant)


def _depth(inputs: int) -> int:
    return -(-inputs // _DEPTH) * _DEPTH


def _largest(node: Node) -> np.ndarray:
    weights, bias = node.inputs[1].constant, node.inputs[2].constant
    return requantization.largest_sums(node, weights, bias.astype(np.int64))
