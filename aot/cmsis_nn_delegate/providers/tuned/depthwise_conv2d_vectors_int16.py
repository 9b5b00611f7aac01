"""Depthwise convolution of int16, 2 pixels by 8 channels at a time, for cores with MVE."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ...format.element import Element
from ...format.schema import Isa
from ...graph.ir import Node, Value
from ...ops import conv2d
from ...ops.attrs import Padding
from ...ops.case import Case
from ...ops.features import Features, blocks_of
from ...ops.geometry import Geometry
from ...ops.kernel import KernelSpec
from ...ops.op import Draw
from ..implementation import OwnImplementation, Symbol
from . import block_args, depthwise_conv2d_vectors, row_order, vector_requantization
from .depthwise_conv2d_vectors import CHANNELS
from .vector_requantization import VectorForm

_MOST = 1 << 15  # taps, and rows under them
SCALE_WORDS = 24  # and biases, of a block in the table


def _draw(d: Case, x: Value, kernel: tuple[int, int], padding: Padding, dilation: tuple[int, int] = (1, 1)) -> Value:
    channels, stride = x.shape[1], d.pick((1, 1), (2, 2), d.pair(1, 4))
    sizes: dict[str, Any] = {
        "kernel": kernel,
        "stride": stride,
        "padding": padding,
        "dilation": dilation,
        "clamp": d.clamp(),
    }
    if x.element is Element.INT8:
        return d.maybe_relu(d.depthwise_conv2d(x, **sizes))
    return d.maybe_relu(d.conv2d(x, channels, groups=channels, **sizes))


def _channels(d: Case) -> int:
    return d.pick(d.integer(8, 34), 8 * d.integer(1, 6))


def draw_three(d: Case, element: Element = Element.INT16) -> Value:
    kernel = d.pick((3, 3), (3, 3), (1, 3), (d.integer(1, 6), 3))
    x = d.input(d.batch(), _channels(d), d.integer(kernel[0], 12), d.integer(3, 14), element=element)
    return _draw(d, x, kernel, d.padding(kernel))


def draw_any(d: Case, element: Element = Element.INT16) -> Value:
    """Windows of any size, with or without gaps."""
    kernel, dilation = d.pair(1, 6), d.pick((1, 1), d.pair(1, 3))
    x = d.image(d.batch(), _channels(d), kernel, dilation, element=element)
    return _draw(d, x, kernel, d.padding(kernel, dilation), dilation)


def draw_padding_beyond_the_kernel(d: Case, element: Element = Element.INT16) -> Value:
    kernel = d.pick((3, 3), d.pair(1, 4))
    x = d.image(d.batch(), _channels(d), kernel, element=element)
    return _draw(d, x, kernel, Padding(*d.pair(0, 5), *d.pair(0, 5)))


KERNEL = KernelSpec(
    "depthwise_conv2d_vectors_int16",
    block_args.struct(
        "DepthwiseConv2dVectorsInt16Args",
        "int16 convolution with as many groups as channels, as conv2d_large_int16 computes it, vector by vector.",
        table="for each 8 channels: biases, the weights of each tap for all channels, 4 multipliers, 4 shifts, 4 "
        "multipliers, 4 shifts. The last block has the last 8 channels",
        block_count="output_dims.c / 8, rounded up",
        block_words=f"{SCALE_WORDS}, and twice the taps",
        forms=VectorForm,
        element=Element.INT16,
    ),
)


class DepthwiseConv2dVectorsInt16(OwnImplementation):
    """Inputs and weights are widened to 32 bits where they are loaded, so sums wrap as those of the reference do, and
    no bound has to be proved. The rows of inputs that a row of outputs needs are kept in scratch memory, with the
    padding; the next row of outputs takes over what it shares with them. Windows of three columns have code of their
    own, which loads a column once for both pixels where it belongs to both; of other windows each tap takes 17
    instructions for 16 products.
    """

    name = "depthwise_conv2d_vectors_int16"
    op = "conv2d"
    like = conv2d.LARGE_INT16
    isas = frozenset({Isa.MVE})
    assumes = "one channel a group, as many output as input channels, 8 or more, and shifts to the right"
    draws: ClassVar[tuple[Draw, ...]] = (draw_three, draw_any, draw_padding_beyond_the_kernel)
    symbol = Symbol(
        KERNEL,
        helpers=(
            "runtime/kernels/conv2d/channel_vectors_int16_{isa}.S",
            "runtime/kernels/common/vector_products_{isa}.S",
        ),
    )

    def why_not(self, node: Node) -> str:
        outputs, depth = node.inputs[1].shape[:2]
        channels = node.inputs[0].shape[1]
        if depth != 1 or outputs != channels:
            return "it computes one channel a group, and as many output as input channels"
        if channels < CHANNELS:
            return f"it computes {CHANNELS} channels or more"
        geometry = Geometry.plain(node)
        if max(math.prod(geometry.kernel), _rows(geometry)) > _MOST:
            return f"it computes at most {_MOST} taps, from as many rows"
        return vector_requantization.why_not(node) or block_args.why_not(node)

    def scratch_bytes(self, node: Node) -> int:
        """The rows for an even number of outputs, and a pixel of padding."""
        geometry = Geometry.plain(node)
        outputs = geometry.output[1]
        # A single window may have any stride.
        step = 1 if outputs == 1 else geometry.stride[1]
        columns = (blocks_of(outputs, 2) * 2 - 1) * step + (geometry.kernel[1] - 1) * geometry.dilation[1] + 1
        elements = (_rows(geometry) * columns + 1) * int(node.inputs[0].shape[1])
        return blocks_of(node.inputs[0].element.nbytes(elements), 16) * 16

    def features(self, node: Node, scratch_bytes: int) -> Features:
        geometry = Geometry.plain(node)
        channels, (rows, columns) = int(node.inputs[1].shape[0]), geometry.output
        lines, blocks = geometry.batch * rows, blocks_of(channels, CHANNELS)
        copied = geometry.batch * ((rows - 1) * min(geometry.stride[0], _rows(geometry)) + _rows(geometry))
        form = vector_requantization.form_of(node).name
        pairs = lines * blocks * blocks_of(columns, 2)
        width = geometry.kernel[1]
        # The kernel does not take steps to a second tap or window where there is none.
        shared = (1 if width == 1 else geometry.dilation[1]) == (1 if columns == 1 else geometry.stride[1])
        taps, path = self._taps(width, shared)
        return Features(
            {
                "lines": lines,
                "blocks of lines": lines * blocks,
                "pairs of outputs": pairs,
                f"pairs of outputs of form {form}": pairs,
                "rows of taps": pairs * geometry.kernel[0],
                **{name: pairs * geometry.kernel[0] * count for name, count in taps.items()},
                "lines copied": copied,
                "inputs copied": copied * geometry.input[1] * channels,
                "padding copied": copied * sum(geometry.padding) * channels,
            },
            path,
        )

    def _taps(self, width: int, shared: bool) -> tuple[Mapping[str, int], str]:
        """Returns what a row of `width` taps is divided into, and the name of the code; `shared`: two windows lie as
        far apart as taps."""
        return {"taps": width}, "any width" if width != 3 else "shared columns" if shared else ""

    def distance(self, node: Node) -> int:
        return node.inputs[0].element.nbytes(row_order.distance(Geometry.plain(node), node.inputs[0].shape[1]))

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        return {"table": depthwise_conv2d_vectors.table(node, slice(4), slice(4, 8))}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return block_args.encode(
            node,
            refs,
            scratch_bytes,
            blocks=blocks_of(int(node.inputs[1].shape[0]), CHANNELS),
            block_words=SCALE_WORDS + 2 * math.prod(Geometry.plain(node).kernel),
            form=vector_requantization.form_of(node),
        )


def _rows(geometry: Geometry) -> int:
    """Returns how many rows of the image a window covers."""
    return row_order.rows_under(geometry)
