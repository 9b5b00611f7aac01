"""Change of memory order; created by passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..format import blocks
from ..format.record import F32, I8, I16, I32, Field, Scalar, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, Layout
from . import storage
from .annotation import NotAnnotated
from .attrs import TransposeAttrs
from .case import Case
from .features import Features
from .kernel import KernelSpec
from .layouts import Layouts
from .op import Op


def _fields(element: Scalar) -> tuple[Field, ...]:
    name = element.element
    return (
        blocks.input("input", element, "batch", "rows", "columns", doc=f"{name} [batch, rows, columns]"),
        blocks.output(element, "batch", "rows", "columns", doc=f"{name} [batch, columns, rows]"),
        Field("batch", I32),
        Field("rows", I32),
        Field("columns", I32),
    )


KERNEL = KernelSpec(
    "transpose",
    Struct(
        "TransposeArgs",
        "int8 [batch, rows, columns] to [batch, columns, rows]: NCHW to NHWC with rows = c and columns = h * w, "
        "the reverse with them exchanged, and a copy with rows = 1.",
        _fields(I8),
    ),
)
KERNEL_INT16 = KernelSpec(
    "transpose_int16",
    Struct("TransposeInt16Args", "The same of int16 elements.", _fields(I16)),
    priced_as="transpose",
)
KERNEL_FLOAT32 = KernelSpec(
    "transpose_float32",
    Struct("TransposeFloat32Args", "The same of float32 elements.", _fields(F32)),
    priced_as="transpose",
)


def _draw(d: Case) -> Value:
    return _transposed(d, Element.INT8)


def _draw_int16(d: Case) -> Value:
    return _transposed(d, Element.INT16)


def _draw_float32(d: Case) -> Value:
    return _transposed(d, Element.FLOAT32)


def _transposed(d: Case, element: Element) -> Value:
    """Images of some pixels, or of so many that kernels move several vectors of a channel at a time."""
    layouts = (Layout.ROW_MAJOR, Layout.CHANNELS_LAST)
    source, target = d.pick(layouts, layouts[::-1])
    size = d.pick(d.pair(1, 6), d.pair(1, 6), (d.integer(1, 3), d.integer(20, 90)))
    return d.transpose(d.input(d.batch(), d.channels(), *size, layout=source, element=element), target)


class Transpose(Op):
    """The same logical values in the layout of the output; a copy if that is the input's."""

    name = "transpose"
    annotation = NotAnnotated("passes create it, to move images between memory orders")
    attrs = TransposeAttrs
    kernels = (KERNEL, KERNEL_INT16, KERNEL_FLOAT32)
    draws = (_draw, _draw_int16, _draw_float32)
    computes = False
    only_moves = True
    layouts = Layouts.ANY

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        order = storage.reorder(node.inputs[0], node.output)
        return storage.reordered(inputs[0], order).reshape(node.output.storage_shape)

    def features(self, node: Node) -> Features:
        batch, rows, columns = storage.reorder(node.inputs[0], node.output)
        if rows == 1 or columns == 1:
            return Features({"columns": batch * columns, "outputs": batch * rows * columns}, "copy")
        element, short, long = node.output.element, min(rows, columns), max(rows, columns)
        # With vectors a line is along the longer side: its elements, and those of four vectors, have places of 8 or 16
        # bits on the other one.
        count, farthest = _vector(element, short)
        fours = long // (4 * count) if (4 * count - 1) * short <= farthest else 0
        vectors = long // count - 4 * fours
        # Without, four rows are read at a time, and with DSP words of bytes in blocks of 4 x 4.
        four_rows = batch * (rows // 4)
        blocks = four_rows if element is Element.INT8 else 0
        return Features(
            {
                "columns": batch * columns,
                "outputs": batch * rows * columns,
                "matrices": batch,
                "lines": batch * short,
                "lines with fours": batch * short * min(fours, 1),
                "fours of vectors": batch * short * fours,
                "vectors": batch * short * vectors,
                "last vectors": batch * short * min(long % count, 1),
                "fours of rows": four_rows,
                "elements of last rows": batch * (rows % 4) * columns,
                "blocks of 4 x 4": blocks * (columns // 4),
                "columns beside blocks": blocks * (columns % 4),
            }
        )

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        batch, rows, columns = storage.reorder(node.inputs[0], node.output)
        return {**refs, "batch": batch, "rows": rows, "columns": columns}


def _vector(element: Element, lines: int) -> tuple[int, int]:
    """Returns how many elements of `lines` lines a vector has, and how far away places may be that it goes to."""
    if element.bits == 8 and 15 * lines <= 0xFF:
        return 16, 0xFF
    return (4, 1 << 30) if element.bits == 32 else (8, 0xFFFF)
