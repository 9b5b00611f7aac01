"""Product of matrices of int16 as products of 2 rows by 2 columns, vector by vector, for cores with MVE."""

from __future__ import annotations

from ...format.element import Element
from ...format.record import Struct
from ...format.schema import Isa
from ...graph.ir import Node, Value
from ...ops import batch_matmul
from ...ops.case import Case
from ...ops.features import Features, blocks_of
from ...ops.kernel import KernelSpec
from ..implementation import OwnImplementation, Symbol
from .batch_matmul_rows import matrices, row_pairs

_VECTOR = 8  # elements
_COLUMNS = 2


def _draw_sizes(d: Case, rows: int, columns: int, row_size: int) -> Value:
    n, h = d.integer(1, 2), d.integer(1, 3)
    a, b = [(d.pick(n, n, 1), d.pick(h, h, 1)) for _ in range(2)]
    return batch_matmul.draw_product(d, a, b, rows, columns, row_size, Element.INT16)


def _draw(d: Case) -> Value:
    return _draw_sizes(d, d.integer(1, 9), d.integer(1, 21), d.integer(1, 40))


def _draw_long(d: Case) -> Value:
    return _draw_sizes(d, d.integer(1, 5), d.integer(1, 13), d.integer(30, 300))


def _draw_attention(d: Case) -> Value:
    """Of sizes that attention has."""
    return _draw_sizes(d, d.integer(10, 50), d.integer(10, 50), d.integer(8, 50))


KERNEL = KernelSpec(
    "batch_matmul_vectors_int16",
    Struct(
        "BatchMatmulVectorsInt16Args",
        "int16 products of the rows of two batches of matrices, as batch_matmul_int16 computes them, vector by vector.",
        batch_matmul.INT16.args.fields,
        geometry="batch_matmul",
    ),
)


class BatchMatmulVectorsInt16(OwnImplementation):
    """Two vectors of rows of each input give four sums of 64 bits: 9 instructions for 32 products. Both inputs are read
    where they lie, so that there is no scratch memory."""

    name = "batch_matmul_vectors_int16"
    op = "batch_matmul"
    like = batch_matmul.INT16
    isas = frozenset({Isa.MVE})
    assumes = "nothing"
    draws = (_draw, _draw_long, _draw_attention)
    symbol = Symbol(KERNEL, helpers=("runtime/kernels/batch_matmul/matrix_vectors_int16_{isa}.S",))

    def features(self, node: Node, scratch_bytes: int) -> Features:
        count, b = matrices(node), node.attrs.b
        pairs = count * row_pairs(node)
        blocks = pairs * blocks_of(b.rows, _COLUMNS)
        return Features(
            {"matrices": count, "pairs": pairs, "blocks": blocks, "vectors": blocks * blocks_of(b.row_size, _VECTOR)}
        )
