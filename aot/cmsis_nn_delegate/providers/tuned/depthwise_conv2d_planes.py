"""Depthwise convolution of 3 x 3 taps by planes, for cores with DSP."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Optional

import numpy as np

from ...format import blocks
from ...format.element import Element
from ...format.record import I8, I16, I32, Field, Struct
from ...format.schema import MAX_DIM, Isa
from ...graph.ir import Node
from ...ops import conv_args, depthwise_conv2d
from ...ops.features import Features, blocks_of
from ...ops.geometry import Geometry
from ...ops.kernel import KernelSpec
from ..implementation import Function, OwnImplementation, Symbol, Workspace
from . import depthwise_3x3, plane_order, requantization
from .depthwise_3x3 import TAPS
from .requantization import Form

_CHANNELS = 4  # of a group of planes
# Fewer outputs in a single row take more instructions than with CMSIS-NN, because two rows are computed at a time.
_LEAST_ROW = 8
_WORDS = 5  # of a channel in the table
_LEAST_STRIP = 12  # outputs; shorter ones save less than they cost
# Set in the byte with the shift of a channel: it has the form FLOOR; and the half step of its first rounding is 0.
FLOOR = 1 << 5
_NO_FIRST_HALF = 1 << 6


def _with_stride(stride: int) -> Callable[[Mapping[str, Any], Isa], bool]:
    return lambda args, _: args["params"]["stride"]["h"] == stride


HELPERS = ("runtime/kernels/common/channel_planes_{isa}.S",)


_ALONG = Field("along_height", I32, "1: rows of planes are columns of the image", low=0, high=1)
_TABLE = (
    "for each channel: weights 0, 1, 1, 2 of two rows or columns of the filter; weights 0, 1, 2 of the last one and a "
    "byte with shift and form; the sum for inputs of 0; the multiplier"
)


def struct(
    name: str,
    doc: str,
    element: Element,
    table: str = _TABLE,
    words: tuple[int, int] = (_WORDS, _WORDS),
    along: Field = _ALONG,
) -> Struct:
    """Returns the argument block for inputs and outputs of `element`, int8 or int16. `table` is the doc of the weights,
    `words` the least and the most that a channel has there, `along` the field that says which axis rows have."""
    wide = element is Element.INT16
    return Struct(
        name,
        doc,
        (
            blocks.input("input", I16 if wide else I8, "input_dims", doc=f"{element.value} [n, h, w, c]"),
            blocks.weight_table(
                "output_dims.c",
                "channel_words",
                doc=table,
            ),
            blocks.scratch(),
            conv_args.OUTPUT_INT16 if wide else conv_args.OUTPUT,
            Field("scratch_bytes", I32),
            Field("channel_words", I32, low=words[0], high=words[1]),
            along,
            Field("strips", I32, "into which rows of outputs are divided, of even lengths", low=1, high=MAX_DIM),
            *(conv_args.PACKED_SIZES_INT16 if wide else conv_args.PACKED_SIZES),
        ),
        geometry="convolution",
    )


KERNEL = KernelSpec(
    "depthwise_conv2d_planes",
    struct(
        "DepthwiseConv2dPlanesArgs",
        "int8 depthwise convolution of 3 x 3 taps, as depthwise_conv2d computes it, by planes of channels.",
        Element.INT8,
    ),
)
INT16 = KernelSpec(
    "depthwise_conv2d_planes_int16",
    struct(
        "DepthwiseConv2dPlanesInt16Args",
        "int16 depthwise convolution of 3 x 3 taps, as conv2d_int16 computes it, by planes of channels.",
        Element.INT16,
    ),
)


class DepthwiseConv2dPlanes(OwnImplementation):
    """Two rows of outputs of four channels at a time: the rows of inputs that they need are widened to planes of
    int16 in scratch memory, and two by two outputs of a channel are computed with its nine weights in registers. The
    longer side of the output is the row. The zero point of the input is part of the bias.

    In strips, rows take less scratch memory; with stride 2, what two rows of outputs share with the next two is then
    read twice. For each group of four channels, inputs are read before the outputs that may lie on them are written
    (`plane_order`).
    """

    name = "depthwise_conv2d_planes"
    op = "depthwise_conv2d"
    like = depthwise_conv2d.KERNEL
    isas = frozenset({Isa.DSP})
    assumes = (
        "windows of at most 3 x 3, stride 1 or 2, as many output as input channels, and sums that fit one of the forms "
        "of requantization"
    )
    draws = depthwise_3x3.DRAWS

    symbol = Symbol(
        KERNEL,
        helpers=HELPERS,
        functions=tuple(
            Function(
                f"depthwise_conv2d_planes_stride{stride}", f"stride {stride}", _with_stride(stride), helpers=HELPERS
            )
            for stride in (1, 2)
        ),
    )

    def legal(self, node: Node) -> Node:
        return depthwise_3x3.whole(node)

    def why_not(self, node: Node) -> str:
        node = self.legal(node)
        reason = depthwise_3x3.why_not(node)
        if reason:
            return reason
        output = Geometry.plain(node).output
        if min(output) == 1 and max(output) < _LEAST_ROW:
            return f"it is slower for a single row of fewer than {_LEAST_ROW} outputs"
        return self.why_inexact(node)

    def scratch_bytes(self, node: Node) -> int:
        return self._planes_bytes(node, 1)

    def smaller_workspaces(self, node: Node) -> Sequence[Workspace]:
        """Rows in 2, 3, ... strips."""
        return [Workspace(self._planes_bytes(node, n), self._distance(node, n)) for n in _strips(node) if n > 1]

    def features(self, node: Node, scratch_bytes: int) -> Features:
        geometry = Geometry.plain(node)
        channels, stride = int(node.inputs[1].shape[0]), int(node.attrs.stride[0])
        groups = geometry.batch * blocks_of(channels, _CHANNELS)
        across = 1 if depthwise_3x3.along_height(node) else 0  # the axis of the rows
        lines, row, padding = geometry.output[across], geometry.output[1 - across], geometry.padding[across]
        strip = _strip_outputs(node, self._strips_of(node, scratch_bytes))
        strips = blocks_of(row, strip)
        # Of which rows of the image, the padding included, are read before a row of outputs or two are computed.
        reads = [*range(lines * stride + TAPS[0] - stride)]
        starts = [*range(0, lines, 2)]
        if strips > 1 and stride == 2:  # all of them are read again, and the first row is computed alone
            starts = [0, *range(1, lines, 2)]
            ends = [*starts[1:], lines]
            reads = [y for first, end in zip(starts, ends) for y in range(first * 2, (end - 1) * 2 + TAPS[0])]
        inside = sum(0 <= y - padding < geometry.input[across] for y in reads)
        # Two columns of outputs at a time.
        columns = blocks_of(row, 2)
        floor = int((self.forms(node) == Form.FLOOR).sum())
        clamped = node.attrs.clamp.limits(node.output.type)
        done = geometry.batch * len(starts) * columns
        pixels = _pixels(geometry.input[1 - across], row, geometry.padding[1 - across], stride, strip)
        read = groups * inside * pixels
        # Planes are filled with padding once, or for each strip from top to bottom.
        cleared = 1 if strips == 1 else groups * strips if stride == 1 else 0
        return Features(
            {
                "groups": groups,
                "lines": groups * len(starts) * strips,
                "lines read": groups * inside * strips,
                "pixels read": read if channels >= _CHANNELS else 0,
                "pixels read channel by channel": read * channels if channels < _CHANNELS else 0,
                "columns of padding": groups * (len(reads) - inside) * columns * stride,
                "columns": groups * len(starts) * columns,
                "columns of channels": done * channels,
                "columns of channels of form ANY": done * (channels - floor),
                "columns with a limit": groups * len(starts) * columns if clamped else 0,
                "columns cleared": cleared * (blocks_of(min(strip, row), 2) * stride + 1),
            },
            f"stride {stride}" + (" in strips" if strips > 1 else ""),
        )

    def distance(self, node: Node) -> Optional[int]:
        return self._distance(node, 1)

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        weights = depthwise_3x3.taps(node)
        scale, multiplier = self.scales(node)
        taps = weights[:, :, [0, 1, 1, 2]].astype(np.int8)
        taps[:, 2, 2] = weights[:, 2, 2]
        # The kernel computes the correction from the shift.
        taps[:, 2, 3] = scale
        words = taps.reshape(len(taps), -1).view("<i4")
        ends = np.stack([self.starts(node), multiplier], axis=1).astype(np.int32)
        return {"table": np.concatenate([words, ends], axis=1)}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return {
            **depthwise_3x3.encode(node, refs, scratch_bytes),
            "channel_words": self.channel_words(node),
            "strips": self._strips_of(node, scratch_bytes),
        }

    def _strips_of(self, node: Node, scratch_bytes: int) -> int:
        """Returns into how many strips rows are divided for this much scratch memory."""
        return next(count for count in _strips(node) if self._planes_bytes(node, count) <= scratch_bytes)

    def _planes_bytes(self, node: Node, strips: int) -> int:
        """Returns the size of the rows of four channels that two rows of outputs need, two columns in a word."""
        stride = int(node.attrs.stride[0])
        outputs = min(_strip_outputs(node, strips), max(Geometry.plain(node).output))
        columns = (outputs + 1) // 2 * stride + 1
        return columns * _CHANNELS * (TAPS[0] + stride) * 4

    def _distance(self, node: Node, strips: int) -> Optional[int]:
        geometry, strip = Geometry.plain(node), _strip_outputs(node, strips)
        return 0 if plane_order.overlaps_exactly(geometry, depthwise_3x3.along_height(node), strip) else None

    def why_inexact(self, node: Node) -> str:
        """Returns why a channel has no form of requantization that is exact, "" if all have one."""
        try:
            self.forms(node)
        except ValueError as error:
            return str(error)
        return ""

    def channel_words(self, node: Node) -> int:
        """Returns the size of a channel in the table."""
        return _WORDS

    def starts(self, node: Node) -> np.ndarray:
        """Returns what every window has in common, the bias and the zero point of the input: int64 [channels]."""
        sums = depthwise_3x3.taps(node).sum((1, 2))
        return np.asarray(node.inputs[2].constant - node.inputs[0].zero_point * sums, np.int64)

    def scales(self, node: Node) -> tuple[np.ndarray, np.ndarray]:
        """Returns the byte with shift and form, and the multiplier of each channel."""
        forms = self.forms(node)
        shift, multiplier, _ = requantization.table(node, forms).T
        floor = np.where(shift > requantization.FLOOR_BITS, FLOOR | _NO_FIRST_HALF, FLOOR)
        return shift | np.where(forms == Form.FLOOR, floor, 0), multiplier

    def forms(self, node: Node) -> np.ndarray:
        """Returns the `Form` of each channel. ValueError says why one has none."""
        largest = requantization.largest_sums(node, node.inputs[1].constant, node.inputs[2].constant.astype(np.int64))
        return requantization.forms_of(node, largest)


def _strip_outputs(node: Node, strips: int) -> int:
    """Returns how many outputs of a row are computed at a time."""
    return -(-max(Geometry.plain(node).output) // (2 * strips)) * 2


def _strips(node: Node) -> list[int]:
    """Returns into how many strips rows can be divided, those that are not shorter with more of them left out."""
    most = max(1, max(Geometry.plain(node).output) // _LEAST_STRIP)
    counts = range(1, most + 1)
    return [n for n in counts if n == 1 or _strip_outputs(node, n) < _strip_outputs(node, n - 1)]


def _pixels(size: int, row: int, padding: int, stride: int, strip: int) -> int:
    """Returns how many pixels of a row of the image are read for all strips of `row` outputs."""
    found = 0
    for first in range(0, row, strip):
        columns = 2 * (blocks_of(min(strip, row - first), 2) * stride + 1)
        begin = first * stride - padding
        found += max(0, min(begin + columns, size) - max(begin, 0))
    return found
