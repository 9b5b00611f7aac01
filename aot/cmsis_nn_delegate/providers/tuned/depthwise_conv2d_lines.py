"""Depthwise convolution over one axis, as of 1-D convolutions, for cores with DSP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional

import numpy as np

from ...format.element import Element
from ...format.record import I32, Field
from ...format.schema import Isa
from ...graph.ir import Node, Value
from ...ops import conv_args, depthwise_conv2d
from ...ops.attrs import Padding
from ...ops.case import Case
from ...ops.features import Features, blocks_of
from ...ops.geometry import Geometry
from ...ops.kernel import KernelSpec
from ..implementation import Symbol, Workspace
from . import block_args, depthwise_conv2d_planes, plane_order
from .depthwise_conv2d_planes import DepthwiseConv2dPlanes
from .requantization import Form

_CHANNELS = 4  # of a group of lines
_OUTPUTS = 4  # at a time
_MOST_TAPS = 256
_END_WORDS = 2  # of a channel in the table, behind its weights
_LEAST_STRIP = 24  # outputs; shorter ones save less than they cost


def _axis(d: Case, along: int, other: int) -> tuple[int, int]:
    """Returns sizes (height, width) of which one belongs to the axis of the taps."""
    return d.pick((other, along), (along, other))


def _draw(d: Case, taps: int, size: int, padding: tuple[int, int]) -> Value:
    kernel = _axis(d, taps, 1)
    before, after = padding
    wide = kernel[0] == 1
    other = d.integer(1, 4)
    x = d.input(d.batch(), max(2, d.channels()), *((other, size) if wide else (size, other)))
    around = Padding(0, before, 0, after) if wide else Padding(before, 0, after, 0)
    return d.maybe_relu(d.depthwise_conv2d(x, 1, kernel=kernel, padding=around, clamp=d.clamp()))


def _draw_few_taps(d: Case) -> Value:
    taps = d.integer(2, 5)
    return _draw(d, taps, taps + d.integer(0, 20), d.pair(0, taps - 1))


def _draw_any_taps(d: Case) -> Value:
    taps = d.integer(2, 21)
    return _draw(d, taps, taps + d.integer(0, 20), d.pair(0, taps - 1))


def _draw_long(d: Case) -> Value:
    """Long enough for strips."""
    taps = d.integer(2, 12)
    return _draw(d, taps, d.integer(48, 90), d.pair(0, taps - 1))


def _draw_padding_beyond_the_kernel(d: Case) -> Value:
    taps = d.integer(2, 7)
    return _draw(d, taps, d.integer(1, 9), (d.integer(taps, taps + 5), d.integer(taps, taps + 5)))


KERNEL = KernelSpec(
    "depthwise_conv2d_lines",
    depthwise_conv2d_planes.struct(
        "DepthwiseConv2dLinesArgs",
        "int8 depthwise convolution over one axis, as depthwise_conv2d computes it, by lines of channels.",
        Element.INT8,
        table="for each channel: its weights, 0 up to one byte less than a multiple of four, and a byte with shift and "
        "form; the sum for inputs of 0; the multiplier",
        words=(1 + _END_WORDS, _MOST_TAPS // 4 + 1 + _END_WORDS),
        along=Field("along_height", I32, "0 where the taps lie side by side, else one above the other"),
    ),
)


class DepthwiseConv2dLines(DepthwiseConv2dPlanes):
    """Four outputs of a channel at a time, along the axis of the taps: four channels of a row or column of the image
    are widened to lines of int16 in scratch memory, where a word has two neighbours. Outputs in odd columns take
    weights that are shifted by one, so that no inputs are shifted. Requantization is that of `DepthwiseConv2dPlanes`.
    """

    name = "depthwise_conv2d_lines"
    like = depthwise_conv2d.KERNEL
    assumes = (
        f"1 x k or k x 1 taps, k from 2 to {_MOST_TAPS}, stride 1, no dilation, no padding along the other axis, as "
        "many output as input channels, and sums that fit one of the forms of requantization"
    )
    isas = frozenset({Isa.DSP})
    draws = (_draw_few_taps, _draw_any_taps, _draw_long, _draw_padding_beyond_the_kernel)

    symbol = Symbol(
        KERNEL,
        helpers=(
            "runtime/kernels/depthwise_conv2d/channel_lines_{isa}.S",
            "runtime/kernels/common/channel_planes_{isa}.S",
        ),
    )

    def legal(self, node: Node) -> Node:
        return node

    def why_not(self, node: Node) -> str:
        geometry = Geometry.plain(node)
        if min(geometry.kernel) != 1 or not 2 <= max(geometry.kernel) <= _MOST_TAPS:
            return f"it computes 2 to {_MOST_TAPS} taps along one axis"
        if geometry.stride != (1, 1) or geometry.dilation != (1, 1):
            return "it computes stride 1 without dilation"
        across = 1 - _axis_of_taps(node)
        if geometry.padding[across] or geometry.output[across] != geometry.input[across]:
            return "it computes no padding beside its taps"
        least = 3 if max(geometry.kernel) < 6 else 2
        if geometry.output[1 - across] < least:
            return f"it is slower for fewer than {least} outputs of a row"
        if node.inputs[1].shape[0] != node.inputs[0].shape[1]:
            return "it computes as many output as input channels"
        return block_args.why_not(node) or self.why_inexact(node)

    def scratch_bytes(self, node: Node) -> int:
        return _lines_bytes(node, 1)

    def smaller_workspaces(self, node: Node) -> Sequence[Workspace]:
        """Lines in 2, 3, ... strips, which read what others have read before: no output may lie on inputs."""
        return [Workspace(_lines_bytes(node, n), None) for n in _strips(node) if n > 1]

    def features(self, node: Node, scratch_bytes: int) -> Features:
        geometry, axis = Geometry.plain(node), _axis_of_taps(node)
        channels, outputs, taps = int(node.inputs[1].shape[0]), geometry.output[axis], geometry.kernel[axis]
        strip = _strip_outputs(node, _strips_of(node, scratch_bytes))
        parts = [min(strip, outputs - first) for first in range(0, outputs, strip)]
        groups = geometry.batch * blocks_of(channels, _CHANNELS)
        lines = geometry.output[1 - axis]
        # In which columns of the image a strip begins and ends.
        ends = [
            (first - geometry.padding[axis], first - geometry.padding[axis] + 2 * _line_words(part, taps))
            for first, part in zip(range(0, outputs, strip), parts)
        ]
        pixels = sum(max(0, min(end, geometry.input[axis]) - max(begin, 0)) for begin, end in ends) * lines * groups
        whole = channels >= _CHANNELS
        done = geometry.batch * lines * channels
        fours = done * sum(blocks_of(part, _OUTPUTS) for part in parts)
        any_form = int((self.forms(node) == Form.ANY).sum())
        words = _weight_words(taps)
        return Features(
            {
                "lines": groups * lines * len(parts),
                "lines of channels": done * len(parts),
                "words of weights": done * len(parts) * words,
                "pixels read": pixels if whole else 0,
                "pixels read channel by channel": 0 if whole else pixels * channels,
                "fours": fours,
                "words of fours": fours * words if _pairs(taps) > 3 else 0,
                "fours of form ANY": fours // channels * any_form,
                "fours with a limit": fours // channels * any_form if node.attrs.clamp.limits(node.output.type) else 0,
                "last outputs": done * (outputs % _OUTPUTS),
                "words of padding": sum(_line_words(part, taps) for part in parts) * geometry.batch,
            },
            {2: "2 or 3 taps", 3: "4 or 5 taps"}.get(_pairs(taps), ""),
        )

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        scale, multiplier = self.scales(node)
        weights = np.asarray(node.inputs[1].constant).reshape(len(scale), -1)
        words = _weight_words(weights.shape[1])
        taps = np.zeros((len(scale), 4 * words), np.int8)
        taps[:, : weights.shape[1]] = weights
        taps[:, -1] = scale
        ends = np.stack([self.starts(node), multiplier], axis=1).astype(np.int32)
        return {"table": np.concatenate([taps.view("<i4"), ends], axis=1)}

    def channel_words(self, node: Node) -> int:
        return _weight_words(max(Geometry.plain(node).kernel)) + _END_WORDS

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return {
            **conv_args.encode(node, refs, scratch_bytes, Geometry.plain(node), block_args.dims(node)),
            "along_height": int(_axis_of_taps(node) == 0),
            "channel_words": self.channel_words(node),
            "strips": _strips_of(node, scratch_bytes),
        }

    def distance(self, node: Node) -> Optional[int]:
        geometry, axis = Geometry.plain(node), _axis_of_taps(node)
        return 0 if plane_order.overlaps_exactly(geometry, axis == 0, geometry.output[axis]) else None


def _axis_of_taps(node: Node) -> int:
    """Returns 0 if the taps lie one above the other, else 1."""
    return int(node.inputs[1].shape[2] == 1)


def _pairs(taps: int) -> int:
    """Returns how many pairs hold the weights, and those that begin one weight earlier."""
    return taps // 2 + 1


def _weight_words(taps: int) -> int:
    """Returns the words of a channel's weights in the table, with a byte more."""
    return taps // 4 + 1


def _line_words(outputs: int, taps: int) -> int:
    """Returns the words of a line, for whole fours of outputs and whole words of weights."""
    return blocks_of(outputs, _OUTPUTS) * 2 - 1 + 2 * _weight_words(taps)


def _strip_outputs(node: Node, strips: int) -> int:
    """Returns how many outputs of a line are computed at a time."""
    return blocks_of(Geometry.plain(node).output[_axis_of_taps(node)], _OUTPUTS * strips) * _OUTPUTS


def _strips(node: Node) -> list[int]:
    """Returns into how many strips lines can be divided, those that are not shorter with more of them left out."""
    most = Geometry.plain(node).output[_axis_of_taps(node)] // _LEAST_STRIP
    return [1, *(n for n in range(2, most + 1) if _strip_outputs(node, n) < _strip_outputs(node, n - 1))]


def _strips_of(node: Node, scratch_bytes: int) -> int:
    """Returns into how many strips lines are divided for this much scratch memory."""
    return next(count for count in _strips(node) if _lines_bytes(node, count) <= scratch_bytes)


def _lines_bytes(node: Node, strips: int) -> int:
    """Returns the size of the lines of four channels, two columns in a word, and of the pairs of weights of one."""
    geometry, axis = Geometry.plain(node), _axis_of_taps(node)
    outputs, taps = min(_strip_outputs(node, strips), geometry.output[axis]), geometry.kernel[axis]
    return (_weight_words(taps) + _line_words(outputs, taps)) * _CHANNELS * 4
