"""Product of matrices as products of 2 rows by 4 columns, vector by vector, for cores with MVE."""

from __future__ import annotations

from ...format.schema import Isa
from ...graph.ir import Node
from ...ops.features import Features, blocks_of
from ..implementation import Symbol
from .batch_matmul_rows import COLUMNS, BatchMatmulRows, kernel, matrices, row_pairs, scale

_VECTOR = 16  # elements
_START_BYTES = 4  # of a row of the second input


KERNEL = kernel("batch_matmul_vectors", "BatchMatmulVectorsArgs", "vector by vector")


class BatchMatmulVectors(BatchMatmulRows):
    """Two vectors of rows of the first input and four of the second one give eight sums: 14 instructions for 128
    products. What offsets add is computed from the sum of each row. The rows of the second input are copied to scratch
    memory first, in the order of the products.
    """

    name = "batch_matmul_vectors"
    isas = frozenset({Isa.MVE})
    assumes = "a shift to the right"

    symbol = Symbol(KERNEL, helpers=("runtime/kernels/batch_matmul/matrix_vectors_{isa}.S",))

    def why_not(self, node: Node) -> str:
        if scale(node)[1] > -1:
            return "outputs have finer steps than sums, half of them or less"
        return ""

    def block_bytes(self, row_size: int) -> int:
        return COLUMNS * (blocks_of(row_size, _VECTOR) * _VECTOR + _START_BYTES)

    def features(self, node: Node, scratch_bytes: int) -> Features:
        passes, blocks = self.packing(node, scratch_bytes)
        count, b = matrices(node), node.attrs.b
        more = blocks_of(b.row_size, _VECTOR) - 1
        pairs = count * row_pairs(node)
        return Features(
            {
                "matrices": count,
                "passes": count * passes,
                "pairs": pairs * passes,
                "vectors of pairs": pairs * passes * more,
                "columns": count * b.rows,
                "vectors of columns": count * b.rows * more,
                "blocks": pairs * blocks,
                "vectors": pairs * blocks * more,
            }
        )
