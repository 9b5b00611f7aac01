"""Softmax of int8 with a table of its exponentials, for all cores, and with a mask for those with DSP or MVE."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Optional

import numpy as np

from ...format import blocks
from ...format.element import Element
from ...format.record import I8, I32, Field, Role, Struct
from ...format.schema import Isa
from ...graph.ir import Node, Value
from ...ops import masked_softmax, rows, softmax
from ...ops.case import Case
from ...ops.features import Features
from ...ops.kernel import KernelSpec
from ...ops.masked_softmax import MaskedSoftmaxAttrs
from ...ops.op import Draw
from ..implementation import OwnImplementation, Symbol

_LOOPS = "runtime/kernels/common/softmax_table_rows_mve.S"
_ENTRIES = 256
_BYTES = 4 * _ENTRIES
# The sum of so many exponentials fits 31 bits.
_MAX_ROW = 4095


def _draw(d: Case) -> Value:
    return d.softmax(_input(d, d.integer(16, 64), d.integer(64, 200)))


def _draw_long(d: Case) -> Value:
    return d.softmax(_input(d, d.integer(1, 3), d.pick(d.integer(1024, 1100), d.integer(3000, _MAX_ROW))))


def _draw_short(d: Case) -> Value:
    columns = d.integer(1, 9)
    return d.softmax(_input(d, -(-_BYTES // columns) + d.integer(0, 3), columns))


def _input(d: Case, row_count: int, columns: int) -> Value:
    """Channels of an image. Scales are from those with which all elements count to those with which only the maximum
    does."""
    return d.input(1, columns, row_count, 1, quant=d.quant(float(2.0 ** d.random.uniform(-14, 3))))


def _draw_masked(d: Case) -> Value:
    """Masks in any order, causal ones, and some that hide whole rows."""
    mask_rows, row_size = d.integer(1, 40), d.pick(d.integer(1, 20), d.integer(20, 300))
    batch = -(-_BYTES // (mask_rows * row_size)) + d.integer(0, 1)
    x = d.input(batch, mask_rows, row_size, quant=d.quant(float(2.0 ** d.random.uniform(-14, 3))))
    mask = d.constant((mask_rows, row_size), Element.INT8, 0, 1)
    hidden = d.random.uniform(0, 1)
    mask.data = d.pick(
        np.triu(np.ones((mask_rows, row_size), np.int8), 1),
        (d.random.uniform(size=mask.shape) < hidden).astype(np.int8),
    )
    return d.node("masked_softmax", [x, mask], MaskedSoftmaxAttrs(), softmax.OUTPUT)


_TABLE = blocks.operand(
    Role.FILTER,
    "table",
    I32,
    ("entries",),
    "int32 [256]: exponentials of differences 0 to -255 to the maximum, Q31; 0 for those that do not count",
)
KERNEL = KernelSpec(
    "softmax_table",
    Struct(
        "SoftmaxTableArgs",
        "int8 softmax along rows, as softmax and softmax_long compute it, with a table of the exponentials. The output "
        "may be the input.",
        (
            blocks.input("input", I8, "rows", "row_size", doc="int8 [rows, row_size]"),
            _TABLE,
            blocks.output(I8, "rows", "row_size", doc="int8 [rows, row_size]"),
            Field("rows", I32),
            Field("row_size", I32, low=1, high=_MAX_ROW),
            Field("entries", I32, low=_ENTRIES, high=_ENTRIES),
        ),
    ),
)
MASKED = KernelSpec(
    "masked_softmax_table",
    Struct(
        "MaskedSoftmaxTableArgs",
        "int8 softmax along rows with a mask, as masked_softmax computes it, with a table of the exponentials.",
        (
            blocks.input("input", I8, "rows", "row_size", doc="int8 [rows, row_size]"),
            blocks.filter("mask_rows", "row_size", doc="int8 [mask_rows, row_size], the mask"),
            _TABLE,
            blocks.output(I8, "rows", "row_size", doc="int8 [rows, row_size]"),
            Field("rows", I32),
            Field("row_size", I32, low=1, high=_MAX_ROW),
            Field("mask_rows", I32),
            Field("entries", I32, low=_ENTRIES, high=_ENTRIES),
        ),
    ),
)


class SoftmaxTable(OwnImplementation):
    """An element of int8 is one of 256 differences to the maximum of its row, so that the compiler can compute all
    exponentials with their scale. For each, a load then replaces the seven products and more of a series.

    A row is read to its end before any of it is written: the output may be the input.
    """

    name = "softmax_table"
    op = "softmax"
    like = softmax.KERNEL
    assumes = f"at least {_BYTES:,} elements, in rows of at most {_MAX_ROW:,}"
    draws: ClassVar[tuple[Draw, ...]] = (_draw, _draw_long, _draw_short)

    symbol = Symbol(KERNEL, helpers=(_LOOPS,))

    @property
    def everywhere(self) -> bool:
        """Not assigned before other kernels are compared with it: `--prefer flash` takes one without a table."""
        return False

    def why_not(self, node: Node) -> str:
        count, row_size = self.sizes(node)
        if count * row_size < _BYTES:
            return "its table would be larger than the tensor"
        if row_size > _MAX_ROW:
            return f"the sum of more than {_MAX_ROW:,} exponentials may exceed 31 bits"
        return ""

    def distance(self, node: Node) -> Optional[int]:
        return 0

    def sizes(self, node: Node) -> tuple[int, int]:
        """Returns how many rows there are, and the elements of one."""
        return rows.rows_of(node)

    def features(self, node: Node, scratch_bytes: int) -> Features:
        count, row_size = self.sizes(node)
        return Features({"rows": count, "outputs": count * row_size})

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        return {"table": softmax.exponentials(softmax.scaling_of(node)).astype(np.int32)}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        count, row_size = self.sizes(node)
        return {**refs, "rows": count, "row_size": row_size, "entries": _ENTRIES}


class MaskedSoftmaxTable(SoftmaxTable):
    """The same for each run of elements that a mask leaves. What it hides is not looked up: it may be larger than the
    maximum of the others, and has no place in the table."""

    name = "masked_softmax_table"
    op = "masked_softmax"
    like = masked_softmax.KERNEL
    isas = frozenset({Isa.DSP, Isa.MVE})
    draws = (_draw_masked,)

    symbol = Symbol(MASKED, helpers=(_LOOPS,))

    def distance(self, node: Node) -> Optional[int]:
        return None

    def sizes(self, node: Node) -> tuple[int, int]:
        row_size = int(node.inputs[1].shape[1])
        return node.output.numel // row_size, row_size

    def features(self, node: Node, scratch_bytes: int) -> Features:
        count, row_size = self.sizes(node)
        counts = node.inputs[1].constant == 0
        begins = np.diff(counts.astype(np.int8), axis=1, prepend=0) == 1
        times = count // len(counts)
        return Features(
            {
                "rows": count,
                "runs": times * int(begins.sum()),
                "outputs": count * row_size,
                "seen": times * int(counts.sum()),
            }
        )

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        return {"filter": node.inputs[1].constant, **super().constants(node)}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return {**super().encode(node, refs, scratch_bytes), "mask_rows": int(node.inputs[1].shape[0])}
