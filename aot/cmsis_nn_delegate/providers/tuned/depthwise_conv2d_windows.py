"""Depthwise convolution of 3 x 3 taps as products of whole windows, for cores with MVE."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Optional

import numpy as np

from ...format.element import Element
from ...format.record import I32, Field
from ...format.schema import MAX_DIM, Isa
from ...graph.ir import Node, Value
from ...ops import depthwise_conv2d
from ...ops.attrs import Padding
from ...ops.case import Case
from ...ops.features import Features, blocks_of
from ...ops.geometry import Geometry
from ...ops.kernel import KernelSpec
from ...ops.op import Draw
from ..implementation import OwnImplementation, Symbol, Workspace
from . import block_args, depthwise_conv2d_vectors, vector_requantization, vector_table
from .vector_requantization import VectorForm
from .window_shape import BLOCK, GROUP, ROWS, WindowShape

_KERNEL = (3, 3)
_WORDS = 6  # of a channel in the table
_MOST_BYTES = 1 << 16  # between outputs of a group
# Of shorter rows, much of the groups is empty, each channel of a strip begins anew, and what is kept in scratch
# memory is more than depthwise_conv2d_vectors needs.
_LEAST_LENGTH = 9
_MOST_CHANNELS_OF_INT4 = 7


def _draw(d: Case, channels: int, size: tuple[int, int], padding: Padding) -> Value:
    x = d.input(d.batch(), channels, *size)
    return d.maybe_relu(d.depthwise_conv2d(x, 1, kernel=_KERNEL, padding=padding, clamp=d.clamp()))


def _draw_few_channels(d: Case) -> Value:
    return _draw(d, d.integer(1, 16), (d.integer(3, 9), d.integer(10, 20)), d.padding(_KERNEL))


def _draw_blocks(d: Case) -> Value:
    return _draw(d, d.integer(17, 50), (d.integer(1, 7), d.integer(9, 14)), Padding(1, 1, 1, 1))


def _draw_strips(d: Case) -> Value:
    return _draw(d, d.integer(1, 20), (d.integer(3, 6), d.integer(30, 72)), d.padding(_KERNEL))


def _draw_columns_for_rows(d: Case) -> Value:
    height, width = d.integer(11, 40), d.integer(1, 8)
    return _draw(d, d.integer(1, 50), (height, width), d.padding(_KERNEL) if width > 2 else Padding(1, 1, 1, 1))


def _draw_padding_beyond_the_kernel(d: Case) -> Value:
    return _draw(d, d.integer(1, 20), (d.integer(3, 8), d.integer(9, 14)), Padding(*d.pair(0, 5), *d.pair(0, 5)))


KERNEL = KernelSpec(
    "depthwise_conv2d_windows",
    block_args.struct(
        "DepthwiseConv2dWindowsArgs",
        "int8 depthwise convolution of 3 x 3 taps, as depthwise_conv2d computes it, window by window.",
        table="for each channel: 4 bytes of 0; of each column 3 weights and a byte of 0; a word with the shift in the "
        "lowest 6 bits and the sum for inputs of 0 in the others; the multiplier",
        block_count="output_dims.c",
        block_words=f"{_WORDS}",
        forms=VectorForm,
        more=(
            Field("along_height", I32, "1: rows are columns of the image", low=0, high=1),
            Field("strips", I32, "into which rows of outputs are divided", low=1, high=MAX_DIM),
        ),
    ),
)


class DepthwiseConv2dWindows(OwnImplementation):
    """The inputs of a strip of outputs are written to scratch memory channel by channel, columns of four rows one
    behind the other, so that a vector has four columns, and four windows. An instruction multiplies it with all nine
    weights of one of them and adds them up. Rows of inputs that outputs may overwrite are kept in scratch memory, too.
    The zero point of the input is part of the bias. In strips, rows take less scratch memory.
    """

    name = "depthwise_conv2d_windows"
    op = "depthwise_conv2d"
    like = depthwise_conv2d.KERNEL
    isas = frozenset({Isa.MVE})
    assumes = (
        f"3 x 3 taps, stride 1, no dilation, as many output as input channels, rows or columns of {_LEAST_LENGTH} "
        f"outputs or more, shifts to the right, and sums for inputs of 0 of {vector_table.START_BITS} bits"
    )
    draws: ClassVar[tuple[Draw, ...]] = (
        _draw_few_channels,
        _draw_blocks,
        _draw_strips,
        _draw_columns_for_rows,
        _draw_padding_beyond_the_kernel,
    )

    symbol = Symbol(
        KERNEL,
        helpers=("runtime/kernels/depthwise_conv2d/window_vectors_{isa}.S", depthwise_conv2d_vectors.HELPER),
    )

    def why_not(self, node: Node) -> str:
        channels = node.inputs[0].shape[1]
        geometry = Geometry.plain(node)
        if tuple(node.inputs[1].shape[2:]) != _KERNEL or tuple(node.attrs.dilation) != (1, 1):
            return "it computes 3 x 3 taps without dilation"
        if tuple(node.attrs.stride) != (1, 1):
            return "it computes stride 1"
        if node.inputs[1].shape[0] != channels:
            return "it computes as many output as input channels"
        height, width = geometry.output
        if max(height, width) < _LEAST_LENGTH:
            return f"it computes rows or columns of {_LEAST_LENGTH} outputs or more"
        if (GROUP * width if _along_height(node) else width + 8) * channels > _MOST_BYTES:
            return f"outputs of a group may lie at most {_MOST_BYTES} bytes apart"
        return (
            vector_requantization.why_not(node)
            or vector_table.why_not_joined(depthwise_conv2d_vectors.starts(node))
            or block_args.why_not(node)
        )

    def scratch_bytes(self, node: Node) -> int:
        return _shape(node).scratch_bytes

    def smaller_workspaces(self, node: Node) -> Sequence[Workspace]:
        """Rows in 2, 3, ... strips."""
        shapes = (_shape(node, count) for count in _shape(node).strips()[1:])
        return [Workspace(shape.scratch_bytes, shape.distance) for shape in shapes]

    def features(self, node: Node, scratch_bytes: int) -> Features:
        geometry = Geometry.plain(node)
        shape, channels = _shape(node, _strips(node, scratch_bytes)), int(node.inputs[1].shape[0])
        bands = geometry.batch * blocks_of(shape.rows, ROWS)
        sizes = [min(shape.outputs, shape.length - x) for x in range(0, shape.length, shape.outputs)]
        strips = bands * len(sizes)
        # What is left of a strip: one or two columns beside groups, or a group for itself.
        beside = [size % GROUP in (1, 2) and size > GROUP for size in sizes]
        alone = [size % GROUP != 0 and not more for size, more in zip(sizes, beside)]
        calls = sum(1 + (more and size > GROUP) for size, more in zip(sizes, alone))
        groups = bands * channels * (sum(size // GROUP for size in sizes) + sum(alone))
        form = vector_requantization.form_of(node).name
        along_height = _along_height(node)
        # Later strips of a column have two of their columns from the one before.
        columns = len(sizes) * shape.columns - (2 * (len(sizes) - 1) if along_height else 0)
        return Features(
            {
                "bands": bands * blocks_of(channels, BLOCK) if along_height else bands,
                "strips": strips,
                "blocks of strips": strips * blocks_of(channels, BLOCK),
                "channels of strips": bands * calls * channels,
                "groups": groups,
                f"groups of form {form}": groups,
                "last columns": bands * channels * sum(beside),
                "columns": bands * blocks_of(channels, BLOCK) * columns,
                "inputs kept": 0 if along_height else bands * geometry.input[1] * channels,
            },
            "columns for rows" if along_height else "",
        )

    def distance(self, node: Node) -> Optional[int]:
        return _shape(node).distance

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        starts, weights = depthwise_conv2d_vectors.starts(node), node.inputs[1].constant[:, 0]
        multiplier, shift = vector_requantization.scales(node)
        columns = np.zeros((len(weights), 4, 4), np.int8)  # [channel, column, row]
        columns[:, 1:, :3] = weights if _along_height(node) else weights.transpose(0, 2, 1)
        scales = np.stack([vector_table.joined(starts, shift), multiplier], axis=1).astype(np.int32)
        return {"table": np.concatenate([columns.reshape(len(weights), -1).view("<i4"), scales], axis=1)}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return block_args.encode(
            node,
            refs,
            scratch_bytes,
            blocks=int(node.inputs[1].shape[0]),
            block_words=_WORDS,
            form=vector_requantization.form_of(node),
            along_height=int(_along_height(node)),
            strips=_strips(node, scratch_bytes),
        )


def _draw_few_of_int4(d: Case) -> Value:
    x = d.input(d.batch(), d.integer(1, _MOST_CHANNELS_OF_INT4), *d.pick((9, 40), (20, 5), d.pair(9, 14)))
    sizes: dict[str, Any] = {"kernel": _KERNEL, "padding": d.padding(_KERNEL), "element": Element.INT4}
    return d.maybe_relu(d.depthwise_conv2d(x, 1, clamp=d.clamp(), **sizes))


class DepthwiseConv2dWindowsOfInt4(DepthwiseConv2dWindows):
    """Weights of 4 bits stored in 8. Of more channels, the table of `depthwise_conv2d_int4_vectors` is smaller."""

    name = "depthwise_conv2d_windows_of_int4"
    like = depthwise_conv2d.INT4
    assumes = f"at most {_MOST_CHANNELS_OF_INT4} channels, {DepthwiseConv2dWindows.assumes}"
    draws = (_draw_few_of_int4,)

    def why_not(self, node: Node) -> str:
        if node.inputs[0].shape[1] > _MOST_CHANNELS_OF_INT4:
            return f"it computes at most {_MOST_CHANNELS_OF_INT4} channels"
        return super().why_not(node)


def _along_height(node: Node) -> bool:
    """Returns whether rows are columns of the image."""
    return Geometry.plain(node).output[1] < _LEAST_LENGTH


def _shape(node: Node, strips: int = 1) -> WindowShape:
    return WindowShape(Geometry.plain(node), int(node.inputs[0].shape[1]), _along_height(node), strips)


def _strips(node: Node, scratch_bytes: int) -> int:
    """Returns into how many strips rows are divided for this much scratch memory."""
    return next(count for count in _shape(node).strips() if _shape(node, count).scratch_bytes <= scratch_bytes)
