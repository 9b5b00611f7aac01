"""Convolution as a product of 2 pixels by 4 channels, for cores without MVE."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar, Optional

import numpy as np

from ...format.element import Element
from ...format.schema import Isa
from ...graph.ir import Node, Value
from ...ops import conv2d
from ...ops.attrs import Padding
from ...ops.case import Case
from ...ops.features import Features
from ...ops.geometry import Geometry
from ...ops.kernel import KernelSpec
from ...ops.op import Draw
from ..implementation import Function, OwnImplementation, Symbol
from . import block_args, pair_table, requantization, window_order
from .requantization import Form

CHANNELS = 4  # of a block


def draw_general(d: Case, element: Element = Element.INT8, weights: Element = Element.INT8) -> Value:
    """`element` is the type of inputs, here and below."""
    kernel, dilation = d.pair(1, 4), d.pick((1, 1), (1, 1), d.pair(1, 3))
    x = d.image(d.batch(), d.channels(), kernel, dilation, element=element)
    padding = d.padding(kernel, dilation)
    return d.maybe_relu(
        d.conv2d(x, d.channels(), kernel, d.pair(1, 3), padding, dilation, clamp=d.clamp(), element=weights)
    )


def draw_words(d: Case, element: Element = Element.INT8, weights: Element = Element.INT8) -> Value:
    """Rows of whole words, which are read from the image itself."""
    kernel = d.pair(1, 4)
    x = d.image(d.batch(), 4 * d.integer(1, 6), kernel, element=element)
    return d.maybe_relu(
        d.conv2d(x, d.channels(), kernel, d.pair(1, 2), d.padding(kernel), clamp=d.clamp(), element=weights)
    )


def draw_pointwise(d: Case, element: Element = Element.INT8, weights: Element = Element.INT8) -> Value:
    x = d.input(d.batch(), d.pick(d.channels(), d.integer(40, 140)), *d.pair(1, 7), element=element)
    return d.maybe_relu(
        d.conv2d(x, d.channels(), (1, 1), d.pick((1, 1), (1, 1), d.pair(1, 3)), clamp=d.clamp(), element=weights)
    )


def draw_padding_beyond_the_kernel(d: Case, element: Element = Element.INT8) -> Value:
    kernel, dilation = d.pair(1, 3), d.pick((1, 1), d.pair(1, 2))
    x = d.image(d.batch(), d.channels(), kernel, dilation, extra=3, element=element)
    padding = Padding(*d.pair(0, 4), *d.pair(0, 4))
    return d.maybe_relu(d.conv2d(x, d.channels(), kernel, d.pair(1, 3), padding, dilation, clamp=d.clamp()))


HELPERS = ("runtime/kernels/common/pair_products_{isa}.S",)

KERNEL = KernelSpec(
    "conv2d_pairs",
    block_args.struct(
        "Conv2dPairsArgs",
        "int8 convolution of one group, as conv2d computes it, from weights in the order of the products.",
        table="for each 4 channels: 4 sums for inputs of 0; the weights of 2 channels and 2 inputs per word; "
        "(shift, multiplier, correction) of each",
        block_count="output_dims.c / 4, rounded up",
        block_words="16, and the inputs of a window rounded up to 8",
        forms=Form,
    ),
)


class Conv2dPairs(OwnImplementation):
    """The inputs of two windows are widened to pairs of int16; with DSP, each pair of inputs is multiplied with those
    of four filters in eight SMLAD, for which four loads and four SXTB16 suffice, because the weights of two filters
    share a word. Without it, each load of a weight still serves two windows, on Armv6-M with a single multiplication.
    The zero point of the input is part of the bias.
    """

    name = "conv2d_pairs"
    op = "conv2d"
    like = conv2d.KERNEL
    isas = frozenset({Isa.SCALAR, Isa.DSP})
    assumes = "one group, and sums that fit one of the forms of requantization"
    draws: ClassVar[tuple[Draw, ...]] = (draw_general, draw_words, draw_pointwise, draw_padding_beyond_the_kernel)

    symbol = Symbol(
        KERNEL,
        helpers=HELPERS,
        functions=(
            Function(
                "conv2d_pairs_any",
                "calls whose form is ANY",
                lambda args, _: args["form"] == Form.ANY,
                helpers=HELPERS,
            ),
        ),
    )

    def why_not(self, node: Node) -> str:
        if node.attrs.groups != 1:
            return f"it computes one group, not {node.attrs.groups}"
        return block_args.why_not(node) or self.why_inexact(node)

    def scratch_bytes(self, node: Node) -> int:
        """The widened inputs of two windows and, unless they can always be read in place, copies of both."""
        geometry = Geometry.plain(node)
        depth = pair_table.depth(math.prod(node.inputs[1].shape[1:]))
        sides = zip(geometry.output, geometry.stride, geometry.input)
        inside = geometry.padding == (0, 0) and all((count - 1) * stride < size for count, stride, size in sides)
        in_place = geometry.kernel == (1, 1) and inside
        return -(-(4 * depth + (0 if in_place else 2 * depth)) // 16) * 16

    def features(self, node: Node, scratch_bytes: int) -> Features:
        geometry, groups = Geometry.plain(node), node.attrs.groups
        outputs, depth = node.inputs[1].shape[:2]
        images = geometry.batch * groups  # whose windows are computed one after the other
        taps = math.prod(geometry.kernel)
        window = taps * depth
        dense = (groups == 1 and geometry.dilation[1] == 1) or geometry.kernel[1] == 1
        segment = geometry.kernel[1] * depth if dense else depth  # lies together in the image
        segments = window // segment
        inside = window_order.inside(geometry)
        windows = len(inside)
        if windows % 2:
            inside = np.append(inside, inside[-1])  # the last window is computed twice
        pairs = images * (len(inside) // 2)
        both = images * int((inside[::2] & inside[1::2]).sum())
        # Where these are follows from the pair before: the second window neither begins nor ends a row.
        columns = np.arange(len(inside)) % geometry.output[1]
        going_on = (columns[1::2] > columns[::2]) & (columns[1::2] < geometry.output[1] - 1)
        found = images * int((inside[::2] & inside[1::2] & going_on).sum())
        # The others are copied first: rows of windows in the image as a whole, of the others pixel by pixel.
        rows = (images * int(inside.sum()) - 2 * both) * segments if dense else 0
        pixels = 2 * (pairs - both) * taps - (rows // segments) * taps
        whole = segment % 4 == 0
        apart = 0 if whole and segments == 1 else both
        apart += 0 if whole else pairs - both
        blocks = pairs * pair_table.blocks(outputs // groups, CHANNELS)
        return Features(
            {
                "windows": images * windows,
                "pairs": pairs,
                "pairs looked for": pairs - found,
                "pairs copied": pairs - both,
                "segments": apart * segments,
                "words": pairs * segments * (segment // 4),
                # Of segments that lie apart, 16 inputs at a time are widened first; of others 8.
                "words behind sixteens": apart * segments * (segment % 16 // 4),
                "rests": pairs * segments * (segment % 4),
                "rows copied": rows,
                "words of rows copied": rows * (segment // 4),
                "bytes of rows copied": rows * (segment % 4),
                "rows copied at borders": pixels // geometry.kernel[1] if dense else 0,
                "pixels copied": pixels,
                "words of pixels copied": pixels * (depth // 4),
                "bytes of pixels copied": pixels * (depth % 4),
                "blocks": blocks,
                "blocks of form ANY": blocks if self.form(node) is Form.ANY else 0,
                "steps": blocks * pair_table.depth(window) // pair_table.DEPTH,
            }
        )

    def distance(self, node: Node) -> Optional[int]:
        outputs, inputs = node.inputs[1].shape[:2]
        return window_order.distance(Geometry.plain(node), inputs, outputs)

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        return {"table": pair_table.table(self.sums(node), self.scales(node), CHANNELS)}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return block_args.encode(
            node,
            refs,
            scratch_bytes,
            blocks=pair_table.blocks(node.inputs[1].shape[0], CHANNELS),
            block_words=self.sum_words(math.prod(node.inputs[1].shape[1:])) + self.scale_words(node),
            form=self.form(node),
        )

    def why_inexact(self, node: Node) -> str:
        """Returns why no form of requantization is exact, "" if one is."""
        return requantization.why_none(node, self.weights(node))

    def form(self, node: Node) -> Form:
        return requantization.form(node, self.weights(node))

    def scales(self, node: Node) -> np.ndarray:
        """Returns what requantizes the channels, int32 [channels, WORDS]."""
        return requantization.table(node, self.form(node))

    def scale_words(self, node: Node) -> int:
        """Returns how many words of a block requantize its channels."""
        return CHANNELS * requantization.WORDS

    def weights(self, node: Node) -> np.ndarray:
        """Returns int8 [channels, inputs of a window], in the order in which the kernel reads them."""
        return in_order(node)

    def sums(self, node: Node) -> np.ndarray:
        """Returns int32 [blocks, words]: sums for inputs of 0 and weights, without what requantizes them."""
        return pair_table.sums(node, self.weights(node), CHANNELS)

    def sum_words(self, inputs: int) -> int:
        """Returns the size of a block of `sums` in words."""
        return pair_table.sum_words(inputs, CHANNELS)


def in_order(node: Node) -> np.ndarray:
    """Returns the weights of `node`, int8 [channels, inputs of a window], in the order of `pair_table.in_order`."""
    # The pixels that the windows of one of several groups read do not lie side by side.
    dilation = node.attrs.dilation[1] if node.attrs.groups == 1 else 0
    return pair_table.in_order(node.inputs[1].constant.transpose(0, 2, 3, 1), dilation)
