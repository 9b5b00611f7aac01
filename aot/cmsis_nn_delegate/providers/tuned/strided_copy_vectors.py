"""Strided copy of int8 by vectors, for cores with MVE."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Optional

from ...format.element import Element
from ...format.record import Struct
from ...format.schema import Isa
from ...graph.ir import Node, Value
from ...ops import strided_copy
from ...ops.case import Case
from ...ops.features import Features, blocks_of
from ...ops.kernel import KernelSpec
from ...ops.strided_copy import StridedCopyAttrs
from ..implementation import OwnImplementation, Symbol, copy_of

_BYTES = 16  # of a vector
_MOST_STEP = 17  # of a row in either tensor: 15 steps have to fit into a byte
_LEAST_INT16 = 2  # elements of a row of int16
_LEAST_ROW = 3  # bytes; shorter ones take more instructions than one byte after the other
# Instructions of a row, of 16 bytes that lie together in both tensors, and of others.
_ROW, _TOGETHER, _APART = 8, 3, 5


def _draw_rows(d: Case) -> Value:
    """Rows that lie together, or one of several channels."""
    rows, row_size, step, skipped = d.integer(1, 9), d.integer(3, 70), d.pick(1, 1, 2, 3, 17), d.integer(0, 9)
    source = d.input(rows, row_size * step + skipped)
    return strided_copy.draw_copy(d, source, [rows, row_size], [row_size * step + skipped, step], d.integer(0, skipped))


def _draw_shuffled(d: Case) -> Value:
    """Channels of groups in turns, as ShuffleNet has them, of some pixels, also repeated."""
    pixels, groups, channels = d.integer(1, 9), d.integer(2, 5), d.integer(3, 40)
    source = d.input(pixels, groups * channels)
    step = d.pick(channels, channels, 0)
    return strided_copy.draw_copy(d, source, [pixels, channels, groups], [groups * channels, 1, step], 0)


KERNEL = KernelSpec(
    "strided_copy_vectors",
    Struct(
        "StridedCopyVectorsArgs",
        "strided_copy, vector by vector of the last axis, whose steps are at most 17 elements in both tensors.",
        strided_copy.KERNEL.args.fields,
        geometry="strided_copy",
    ),
)


class _Axis(NamedTuple):
    size: int
    input_stride: int
    output_stride: int

    def instructions(self) -> int:
        """Returns about how many instructions a row along this axis takes."""
        together = self.input_stride == self.output_stride == 1
        return _ROW + blocks_of(self.size, _BYTES) * (_TOGETHER if together else _APART)


class StridedCopyVectors(OwnImplementation):
    """Any order of loops gives the same copy: the last axis is the one along which vectors take the fewest
    instructions. Where its bytes do not lie together, they are gathered and scattered."""

    name = "strided_copy_vectors"
    op = "strided_copy"
    like = strided_copy.KERNEL
    isas = frozenset({Isa.MVE})
    assumes = f"an axis with steps of at most {_MOST_STEP} elements in both tensors, none of them backwards"
    draws = (_draw_rows, _draw_shuffled)

    symbol = Symbol(KERNEL, helpers=("runtime/kernels/strided_copy/strided_copy_vectors_{isa}.S",))

    def legal(self, node: Node) -> Node:
        axes = _ordered(node.attrs)
        return node if axes is None else _with_axes(node, axes)

    def why_not(self, node: Node) -> str:
        if _ordered(node.attrs) is None:
            return f"no axis of {_LEAST_ROW} elements and more has steps of at most {_MOST_STEP} in both tensors"
        return ""

    def features(self, node: Node, scratch_bytes: int) -> Features:
        return _features(node.attrs)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return strided_copy.fields_of(node, node.attrs, refs)


def _draw_rows_int16(d: Case) -> Value:
    rows, row_size, skipped = d.integer(1, 9), d.integer(2, 40), d.integer(0, 9)
    source = d.input(rows, row_size + skipped, element=Element.INT16)
    return strided_copy.draw_copy(d, source, [rows, row_size], [row_size + skipped, 1], d.integer(0, skipped))


def _draw_turned_int16(d: Case) -> Value:
    """Pixels that change places, some of them from the last to the first, or repeated."""
    pixels, lines, channels = d.integer(1, 9), d.integer(1, 6), d.integer(2, 30)
    source = d.input(pixels, lines, channels, element=Element.INT16)
    size, steps = [pixels, lines, channels], [lines * channels, d.pick(channels, -channels, 0), 1]
    return strided_copy.draw_copy(d, source, size, steps, (lines - 1) * channels if steps[1] < 0 else 0)


class StridedCopyVectorsInt16(OwnImplementation):
    """Rows of int16 that lie together in both tensors are rows of twice as many bytes."""

    name = "strided_copy_vectors_int16"
    op = "strided_copy"
    like = strided_copy.KERNEL_INT16
    isas = frozenset({Isa.MVE})
    assumes = f"an axis of {_LEAST_INT16} elements and more that lie together in both tensors"
    draws = (_draw_rows_int16, _draw_turned_int16)
    symbol = StridedCopyVectors.symbol

    def legal(self, node: Node) -> Node:
        axes = _together(node.attrs)
        return node if axes is None else _with_axes(node, axes)

    def why_not(self, node: Node) -> str:
        if _together(node.attrs) is None:
            return f"no axis of {_LEAST_INT16} elements and more lies together in both tensors"
        return ""

    def features(self, node: Node, scratch_bytes: int) -> Features:
        return _features(_in_bytes(node.attrs))

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        fields = strided_copy.fields_of(node, _in_bytes(node.attrs), refs)
        return {**fields, **{name: 2 * fields[name] for name in ("input_count", "output_count")}}


def _together(attrs: StridedCopyAttrs) -> Optional[list[_Axis]]:
    """Returns the axes with the longest one last whose elements lie together, as rows; None if there is none."""
    axes = [_Axis(*axis) for axis in zip(attrs.sizes, attrs.input_strides, attrs.output_strides)]
    rows = [axis for axis in axes if axis.input_stride == axis.output_stride == 1 and axis.size >= _LEAST_INT16]
    return _rows_last(axes, max(rows, key=lambda axis: axis.size)) if rows else None


def _in_bytes(attrs: StridedCopyAttrs) -> StridedCopyAttrs:
    """Returns the copy of the bytes of int16, whose last axis lies together."""
    return dataclasses.replace(
        attrs,
        shape=(2 * math.prod(attrs.shape),),
        sizes=(*attrs.sizes[:-1], 2 * attrs.sizes[-1]),
        input_strides=(*(2 * stride for stride in attrs.input_strides[:-1]), 1),
        output_strides=(*(2 * stride for stride in attrs.output_strides[:-1]), 1),
        input_offset=2 * attrs.input_offset,
        output_offset=2 * attrs.output_offset,
    )


def _with_axes(node: Node, axes: Sequence[_Axis]) -> Node:
    sizes, input_strides, output_strides = zip(*axes)
    found = copy_of(node)
    found.attrs = dataclasses.replace(
        node.attrs, sizes=sizes, input_strides=input_strides, output_strides=output_strides
    )
    return found


def _features(attrs: StridedCopyAttrs) -> Features:
    """Returns those of a copy of bytes."""
    row = _Axis(attrs.sizes[-1], attrs.input_strides[-1], attrs.output_strides[-1])
    rows = math.prod(attrs.sizes[:-1])
    together = row.input_stride == row.output_stride == 1
    counts = {
        "outer steps": math.prod(attrs.sizes[:-2]),
        "rows": rows,
        "vectors": rows * blocks_of(row.size, _BYTES),
    }
    return Features(counts, "rows" if together else "")


def _ordered(attrs: StridedCopyAttrs) -> Optional[list[_Axis]]:
    """Returns the axes with that of rows last, and the longest of the others before it; None if none can be rows."""
    axes = [_Axis(*axis) for axis in zip(attrs.sizes, attrs.input_strides, attrs.output_strides)]
    possible = [
        axis
        for axis in axes
        if axis.size >= _LEAST_ROW and 0 <= axis.input_stride <= _MOST_STEP and axis.output_stride <= _MOST_STEP
    ]
    if not possible:
        return None
    return _rows_last(axes, min(possible, key=lambda axis: axis.instructions() / axis.size))


def _rows_last(axes: list[_Axis], row: _Axis) -> list[_Axis]:
    """Returns `axes` with `row` last, and the longest of the others before it."""
    axes.remove(row)
    if axes:
        longest = max(axes, key=lambda axis: axis.size)
        axes.remove(longest)
        axes.append(longest)
    return [*axes, row]
