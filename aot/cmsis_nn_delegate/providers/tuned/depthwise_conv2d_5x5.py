"""Depthwise convolution of up to 5 x 5 taps by planes, for cores with DSP."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Optional

import numpy as np

from ...format import blocks
from ...format.element import Element
from ...format.record import I8, I16, I32, Field, Struct
from ...format.schema import MAX_DIM, Isa
from ...graph.ir import Node, Value
from ...ops import conv_args, depthwise_conv2d
from ...ops.attrs import Padding
from ...ops.case import Case
from ...ops.features import Features, blocks_of
from ...ops.geometry import Geometry
from ...ops.kernel import KernelSpec
from ...ops.op import Draw
from ..implementation import Function, Symbol, Workspace
from . import block_args, depthwise_3x3
from .depthwise_conv2d_planes import DepthwiseConv2dPlanes
from .drawing import typed
from .requantization import Form

_CHANNELS = 4  # of a group of planes
_OUTPUTS = 4  # at a time
_TAPS = 5  # columns of a filter, and the most rows
_WEIGHT_BYTES = 128  # of the pairs of a channel's weights in scratch memory
_END_WORDS = 2  # of a channel in the table, behind its weights
_STRIDES = ((1, 1), (2, 2))
# Taps and dilations of windows that are higher and wider than 3, with fewer taps than 5 x 5.
SPREAD = (((4, 4), (1, 1)), ((3, 3), (2, 2)), ((2, 3), (4, 2)))
_HELPERS = ("runtime/kernels/depthwise_conv2d/channel_fives_{isa}.S",)


def struct(name: str, doc: str, element: Element) -> Struct:
    """Returns the argument block for inputs and outputs of `element`, int8 or int16."""
    wide = element is Element.INT16
    return Struct(
        name,
        doc,
        (
            blocks.input("input", I16 if wide else I8, "input_dims", doc=f"{element.value} [n, h, w, c]"),
            blocks.weight_table(
                "output_dims.c",
                "channel_words",
                doc="for each channel: its weights, row by row, 0 up to one byte less than a multiple of four, and a "
                "byte with shift and form; the sum for inputs of 0; the multiplier",
            ),
            blocks.scratch(),
            conv_args.OUTPUT_INT16 if wide else conv_args.OUTPUT,
            Field("scratch_bytes", I32),
            Field("channel_words", I32, low=2 + _END_WORDS, high=7 + _END_WORDS),
            Field("band_rows", I32, "rows of outputs that are computed at a time", low=1, high=MAX_DIM),
            *(conv_args.PACKED_SIZES_INT16 if wide else conv_args.PACKED_SIZES),
        ),
        geometry="convolution",
    )


KERNEL = KernelSpec(
    "depthwise_conv2d_5x5",
    struct(
        "DepthwiseConv2d5x5Args",
        "int8 depthwise convolution of five taps in up to five rows, as depthwise_conv2d computes it, by planes of "
        "channels.",
        Element.INT8,
    ),
)


def _with_stride(stride: int) -> Callable[[Mapping[str, Any], Isa], bool]:
    return lambda args, _: args["params"]["stride"]["h"] == stride


def _draw(
    d: Case,
    weights: Element,
    taps: tuple[int, int],
    size: tuple[int, int],
    padding: Padding,
    dilation: tuple[int, int] = (1, 1),
    element: Element = Element.INT8,
) -> Value:
    x = d.input(d.batch(), max(2, d.channels()), *size, element=element)
    shape: Any = {"kernel": taps, "stride": d.pick(*_STRIDES), "padding": padding, "dilation": dilation}
    if element is Element.INT16:
        channels = x.shape[1]
        return d.maybe_relu(d.conv2d(x, channels, **shape, groups=channels, clamp=d.clamp()))
    return d.maybe_relu(d.depthwise_conv2d(x, 1, **shape, clamp=d.clamp(), element=weights))


def draw_whole(d: Case, weights: Element = Element.INT8, element: Element = Element.INT8) -> Value:
    """5 x 5 taps, on images of any size. `element` is the type of inputs, here and below."""
    size = d.pick(d.pair(5, 12), (d.integer(5, 9), d.integer(10, 40)), (d.integer(20, 40), d.integer(5, 9)))
    return _draw(d, weights, (_TAPS, _TAPS), size, d.padding((_TAPS, _TAPS)), element=element)


def draw_smaller(d: Case, weights: Element = Element.INT8, element: Element = Element.INT8) -> Value:
    """Fewer taps, more than 3 x 3; also apart."""
    narrow = (((5, 3), (1, 1)), ((3, 5), (1, 1)), ((4, 1), (1, 1)))
    return draw_taps(d, *d.pick(*narrow, *SPREAD), weights, element)


def draw_taps(
    d: Case,
    taps: tuple[int, int],
    dilation: tuple[int, int],
    weights: Element = Element.INT8,
    element: Element = Element.INT8,
) -> Value:
    spans = ((taps[0] - 1) * dilation[0] + 1, (taps[1] - 1) * dilation[1] + 1)
    size = (d.integer(spans[0], spans[0] + 9), d.integer(spans[1] + 2, spans[1] + 9))
    return _draw(d, weights, taps, size, d.padding(taps, dilation), dilation, element)


def draw_padding_beyond_the_kernel(d: Case, weights: Element = Element.INT8, element: Element = Element.INT8) -> Value:
    size = d.pair(1, 9)
    return _draw(d, weights, (_TAPS, _TAPS), size, Padding(*d.pair(4, 8), *d.pair(4, 8)), element=element)


class DepthwiseConv2d5x5(DepthwiseConv2dPlanes):
    """Four outputs of a row at a time: the rows of inputs that a band of rows of outputs needs are widened to planes of
    int16 in scratch memory, four channels at a time, where a word has two neighbours. Outputs in odd columns take
    weights that are shifted by one, so that no inputs are shifted. Requantization is that of `DepthwiseConv2dPlanes`.

    If a band has all rows, a group's inputs are read before its outputs are written, which may lie on them. Smaller
    bands take less scratch memory, and read the rows that they share twice.
    """

    name = "depthwise_conv2d_5x5"
    like = depthwise_conv2d.KERNEL
    assumes = (
        "windows of at most 5 x 5 and more than 3 x 3, stride 1 or 2, as many output as input channels, and sums that "
        "fit one of the forms of requantization"
    )
    draws: ClassVar[tuple[Draw, ...]] = (draw_whole, draw_smaller, draw_padding_beyond_the_kernel)

    symbol = Symbol(
        KERNEL,
        helpers=_HELPERS,
        functions=tuple(
            Function(f"depthwise_conv2d_5x5_stride{stride}", f"stride {stride}", _with_stride(stride), helpers=_HELPERS)
            for stride in (1, 2)
        ),
    )

    def legal(self, node: Node) -> Node:
        return depthwise_3x3.whole(node, (1, _TAPS), (_TAPS, _TAPS))

    def why_not(self, node: Node) -> str:
        spans = [(taps - 1) * step + 1 for taps, step in zip(node.inputs[1].shape[2:], node.attrs.dilation)]
        if max(spans) > _TAPS:
            return f"it computes windows of at most {_TAPS} x {_TAPS}"
        if max(spans) <= depthwise_3x3.TAPS[0]:
            return "it is slower than kernels for 3 x 3 taps"
        node = self.legal(node)
        if node.attrs.stride not in _STRIDES:
            return "it computes strides 1 and 2, the same for height and width"
        if node.inputs[1].shape[0] != node.inputs[0].shape[1]:
            return "it computes as many output as input channels"
        if Geometry.plain(node).output[1] == 1:
            return "it is slower for rows of a single output"
        return block_args.why_not(node) or self.why_inexact(node)

    def scratch_bytes(self, node: Node) -> int:
        return _scratch_bytes(node, Geometry.plain(node).output[0])

    def smaller_workspaces(self, node: Node) -> Sequence[Workspace]:
        """Bands of fewer rows, which read what others have read before: no output may lie on inputs."""
        return [Workspace(_scratch_bytes(node, rows), None) for rows in _bands(node)[1:]]

    def distance(self, node: Node) -> Optional[int]:
        (height, width), (rows, columns) = Geometry.plain(node).input, Geometry.plain(node).output
        return 0 if rows * columns <= height * width else None

    def features(self, node: Node, scratch_bytes: int) -> Features:
        geometry, (rows, outputs) = Geometry.plain(node), Geometry.plain(node).output
        channels, taps, stride = int(node.inputs[1].shape[0]), geometry.kernel[0], geometry.stride[0]
        band = _band_rows(node, scratch_bytes)
        starts = range(0, rows, band)
        # Of which rows of the image, the padding included, are read.
        reads = [
            y - geometry.padding[0]
            for first in starts
            for y in range(first * stride, (min(first + band, rows) - 1) * stride + taps)
        ]
        inside = sum(0 <= y < geometry.input[0] for y in reads)
        groups = geometry.batch * blocks_of(channels, _CHANNELS)
        words = _line_words(outputs, stride)
        pixels = max(0, min(2 * words - geometry.padding[1], geometry.input[1])) * inside * groups
        whole = channels >= _CHANNELS
        fours = geometry.batch * channels * rows * blocks_of(outputs, _OUTPUTS)
        any_form = int((self.forms(node) == Form.ANY).sum())
        return Features(
            {
                "groups": groups,
                "lines": groups * len(reads),
                "lines read": groups * inside,
                "pixels read": pixels if whole else 0,
                "pixels read channel by channel": 0 if whole else pixels * channels,
                "words of padding": groups * (len(reads) - inside) * words + geometry.batch * len(reads) * words,
                "channels": geometry.batch * channels * len(starts),
                "rows of weights": geometry.batch * channels * len(starts) * taps,
                "rows of channels": geometry.batch * channels * rows,
                "fours": fours,
                "rows of fours": fours * taps,
                "fours of form ANY": fours // channels * any_form,
                "fours with a limit": fours // channels * any_form if node.attrs.clamp.limits(node.output.type) else 0,
            },
            f"stride {stride}",
        )

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        scale, multiplier = self.scales(node)
        weights = np.asarray(node.inputs[1].constant).reshape(len(scale), -1)
        taps = np.zeros((len(scale), 4 * _weight_words(node)), np.int8)
        taps[:, : weights.shape[1]] = weights
        taps[:, -1] = scale
        ends = np.stack([self.starts(node), multiplier], axis=1).astype(np.int32)
        return {"table": np.concatenate([taps.view("<i4"), ends], axis=1)}

    def starts(self, node: Node) -> np.ndarray:
        sums = np.asarray(node.inputs[1].constant, np.int64).sum((1, 2, 3))
        return np.asarray(node.inputs[2].constant - node.inputs[0].zero_point * sums, np.int64)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return {
            **conv_args.encode(node, refs, scratch_bytes, Geometry.plain(node), block_args.dims(node)),
            "channel_words": _weight_words(node) + _END_WORDS,
            "band_rows": _band_rows(node, scratch_bytes),
        }


class DepthwiseConv2d5x5OfInt4(DepthwiseConv2d5x5):
    """Weights of 4 bits stored in 8, as CMSIS-NN's kernels for these windows have them too."""

    name = "depthwise_conv2d_5x5_of_int4"
    like = depthwise_conv2d.INT4
    draws = typed(DepthwiseConv2d5x5.draws, weights=Element.INT4)


def _weight_words(node: Node) -> int:
    """Returns the words of a channel's weights in the table, with a byte more."""
    return _TAPS * int(node.inputs[1].shape[2]) // 4 + 1


def _line_words(outputs: int, stride: int) -> int:
    """Returns the words of a row of a plane, for whole fours of outputs."""
    return blocks_of(outputs, _OUTPUTS) * 2 * stride + 2


def _bands(node: Node) -> list[int]:
    """Returns how many rows of outputs a band may have, all of them first."""
    rows = Geometry.plain(node).output[0]
    return sorted({-(-rows // bands) for bands in range(1, rows + 1)}, reverse=True)


def _band_rows(node: Node, scratch_bytes: int) -> int:
    """Returns how many rows of outputs are computed at a time in this much scratch memory."""
    return next(rows for rows in _bands(node) if _scratch_bytes(node, rows) <= scratch_bytes)


def _scratch_bytes(node: Node, rows: int) -> int:
    """Returns the size of the planes of four channels for a band, and of the pairs of weights of one."""
    geometry = Geometry.plain(node)
    lines = (rows - 1) * geometry.stride[0] + geometry.kernel[0]
    return _WEIGHT_BYTES + lines * _line_words(geometry.output[1], geometry.stride[1]) * _CHANNELS * 4
