"""Depthwise convolution of up to 5 x 5 taps as products of columns, for cores with MVE."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Optional

import numpy as np

from ...format.schema import Isa
from ...graph.ir import Node, Value
from ...ops import depthwise_conv2d
from ...ops.case import Case
from ...ops.features import Features, blocks_of
from ...ops.geometry import Geometry
from ...ops.kernel import KernelSpec
from ...ops.op import Draw
from ..implementation import OwnImplementation, Symbol
from . import (
    block_args,
    depthwise_3x3,
    depthwise_conv2d_5x5,
    depthwise_conv2d_vectors,
    vector_requantization,
    vector_table,
)
from .vector_requantization import VectorForm

_TAPS = 5  # of a row and of a column
_STRIDES = ((1, 1), (2, 2))
_CHANNELS = 8  # of a block
_ROWS = 6  # of a column
_READ = 2  # rows at a time
_OUTPUTS = 8  # of a group
_WEIGHTS_AT = 3  # in the table
_WORDS = 11  # of a channel in the table
_BEYOND = 96  # bytes behind the last plane
_MOST_BYTES = 1 << 16  # of a row of outputs and a group more, so that places in a group have 16 bits
_MOST_OUTPUTS = 1 << 10  # of a row
_MOST_PLANE = 1 << 13  # bytes


def _draw_smaller(d: Case) -> Value:
    return depthwise_conv2d_5x5.draw_taps(d, *d.pick(*depthwise_conv2d_5x5.SPREAD))


KERNEL = KernelSpec(
    "depthwise_conv2d_columns",
    block_args.struct(
        "DepthwiseConv2dColumnsArgs",
        "int8 depthwise convolution of 5 x 5 taps, as depthwise_conv2d computes it, column by column.",
        table="for each channel: 3 bytes of 0; of each column 5 weights and a byte of 0; 3 bytes of 0; a word with the "
        "shift in the lowest 6 bits and the sum for inputs of 0 in the others; the multiplier",
        block_count="output_dims.c",
        block_words=f"{_WORDS}",
        forms=VectorForm,
    ),
)


class DepthwiseConv2dColumns(OwnImplementation):
    """The inputs of eight channels are written to planes in scratch memory, columns of six rows one behind the other,
    so that two vectors have the 25 inputs of a window, and those of the window a row below: four instructions multiply
    both with their weights and add them up. Two rows of inputs are read for each band, of two rows of outputs with
    stride 1 and of one with stride 2, and the four rows before stay. The zero point of the input is part of the bias.
    """

    name = "depthwise_conv2d_columns"
    op = "depthwise_conv2d"
    like = depthwise_conv2d.KERNEL
    isas = frozenset({Isa.MVE})
    assumes = (
        "windows higher and wider than 3, of at most 5 x 5, stride 1 or 2, as many output as input channels, shifts to "
        f"the right, and sums for inputs of 0 of {vector_table.START_BITS} bits"
    )
    draws: ClassVar[tuple[Draw, ...]] = (
        depthwise_conv2d_5x5.draw_whole,
        _draw_smaller,
        depthwise_conv2d_5x5.draw_padding_beyond_the_kernel,
    )

    symbol = Symbol(KERNEL, helpers=("runtime/kernels/depthwise_conv2d/channel_columns_{isa}.S",))

    def legal(self, node: Node) -> Node:
        return depthwise_3x3.whole(node, (_TAPS, _TAPS), (_TAPS, _TAPS))

    def why_not(self, node: Node) -> str:
        spans = [(taps - 1) * step + 1 for taps, step in zip(node.inputs[1].shape[2:], node.attrs.dilation)]
        if max(spans) > _TAPS:
            return f"it computes windows of at most {_TAPS} x {_TAPS}"
        if min(spans) <= depthwise_3x3.TAPS[0]:
            return "its weights of 0 beyond windows of 3 rows or columns take more flash than they save instructions"
        channels = int(node.inputs[0].shape[1])
        if node.inputs[1].shape[0] != channels:
            return "it computes as many output as input channels"
        node = self.legal(node)
        if node.attrs.stride not in _STRIDES:
            return "it computes strides 1 and 2, the same for height and width"
        columns = Geometry.plain(node).output[1]
        if columns > _MOST_OUTPUTS or _plane_bytes(node) > _MOST_PLANE:
            return f"rows have more than {_MOST_OUTPUTS} outputs, or planes more than {_MOST_PLANE} bytes"
        if (columns + _OUTPUTS) * channels > _MOST_BYTES:
            return f"a row of outputs and {_OUTPUTS} more may take at most {_MOST_BYTES} bytes"
        return (
            vector_requantization.why_not(node)
            or vector_table.why_not_joined(depthwise_conv2d_vectors.starts(node))
            or block_args.why_not(node)
        )

    def scratch_bytes(self, node: Node) -> int:
        """The planes of a block, and what is read beyond the last one."""
        return min(int(node.inputs[0].shape[1]), _CHANNELS) * _plane_bytes(node) + _BEYOND

    def distance(self, node: Node) -> Optional[int]:
        """A pixel of a block's outputs may lie on that of its inputs if all rows that it reads later lie behind: those
        before are in the planes."""
        geometry = Geometry.plain(node)
        (height, width), (rows, columns) = geometry.input, geometry.output
        if rows * columns > height * width:
            return None
        band = _band_rows(geometry)
        for index, y in enumerate(range(band, rows, band), 1):
            row = _ROWS - _READ - geometry.padding[0] + _READ * index
            first = row + 1 if row < 0 else row
            if 0 <= first < height and y * columns > first * width:
                return None
        return 0

    def features(self, node: Node, scratch_bytes: int) -> Features:
        geometry = Geometry.plain(node)
        channels, (rows, columns) = int(node.inputs[1].shape[0]), geometry.output
        band, stride = _band_rows(geometry), geometry.stride[1]
        blocks, bands = geometry.batch * blocks_of(channels, _CHANNELS), blocks_of(rows, band)
        reads = bands + (_ROWS - _READ) // _READ
        covered = (columns - 1) * stride + _TAPS
        left = min(geometry.padding[1], covered)
        inside = min(geometry.input[1], covered - left)
        groups = geometry.batch * channels * bands * blocks_of(columns, _OUTPUTS // band)
        form = vector_requantization.form_of(node).name
        return Features(
            {
                "blocks": blocks,
                "reads": blocks * reads,
                "columns": blocks * reads * inside,
                "columns of padding": blocks * reads * (covered - inside),
                "vectors": geometry.batch * channels * (bands - 1) * (_plane_bytes(node) // 16),
                "bands": blocks * bands,
                "channels of bands": geometry.batch * channels * bands,
                "groups": groups,
                f"groups of form {form}": groups,
            },
            f"stride {stride}",
        )

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        weights = node.inputs[1].constant[:, 0]
        multiplier, shift = vector_requantization.scales(node)
        taps = np.zeros((len(weights), 4 * (_WORDS - 2)), np.int8)
        columns = taps[:, _WEIGHTS_AT : _WEIGHTS_AT + _ROWS * _TAPS].reshape(-1, _TAPS, _ROWS)
        columns[:, :, :_TAPS] = weights.transpose(0, 2, 1)
        taps[:, _WEIGHTS_AT : _WEIGHTS_AT + _ROWS * _TAPS] = columns.reshape(len(weights), -1)
        starts = vector_table.joined(depthwise_conv2d_vectors.starts(node), shift)
        scales = np.stack([starts, multiplier], axis=1).astype(np.int32)
        return {"table": np.concatenate([taps.view("<i4"), scales], axis=1)}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return block_args.encode(
            node,
            refs,
            scratch_bytes,
            blocks=int(node.inputs[1].shape[0]),
            block_words=_WORDS,
            form=vector_requantization.form_of(node),
        )


def _band_rows(geometry: Geometry) -> int:
    """Returns how many rows of outputs are computed for two rows of inputs."""
    return 2 if geometry.stride[1] == 1 else 1


def _plane_bytes(node: Node) -> int:
    """Returns the size of a plane."""
    geometry = Geometry.plain(node)
    columns = (geometry.output[1] - 1) * geometry.stride[1] + _TAPS
    return blocks_of(columns * _ROWS, 16) * 16
