"""Product of matrices as products of 2 rows by 4 columns, for cores with DSP."""

from __future__ import annotations

import numpy as np

from ...format.schema import Isa
from ...graph.ir import Node
from ...ops.features import Features, blocks_of
from ..implementation import Symbol
from . import requantization
from .batch_matmul_rows import (
    COLUMNS,
    ROWS,
    BatchMatmulRows,
    kernel,
    largest_sum,
    matrices,
    row_pairs,
    scale,
)

_FOUR = 4  # elements that are widened together
_BYTES = 4  # of their words, for two rows


KERNEL = kernel("batch_matmul_pairs", "BatchMatmulPairsArgs", "from pairs of elements")


class BatchMatmulPairs(BatchMatmulRows):
    """Both inputs are widened to int16 in scratch memory, with their offsets added, so that each sum of two products is
    one SMLAD: 11 instructions for 16 products. All rows of the second input are widened once, or as many as there is
    scratch memory for; of the first one two rows at a time. A single row would be computed twice.
    """

    name = "batch_matmul_pairs"
    isas = frozenset({Isa.DSP})
    assumes = "sums that fit the form ANY of requantization, and at least 2 rows and 4 columns"

    symbol = Symbol(KERNEL, helpers=("runtime/kernels/batch_matmul/matrix_pairs_{isa}.S",))

    def why_not(self, node: Node) -> str:
        if node.attrs.b.rows < COLUMNS:
            return f"it computes {COLUMNS} columns at a time, and there are {node.attrs.b.rows}"
        if node.attrs.a.rows < ROWS:
            return f"it computes {ROWS} rows at a time, and there is one"
        try:
            _, shift = scale(node)
            requantization.check_shifts(np.array([largest_sum(node)]), np.array([shift]))
        except ValueError as error:
            return str(error)
        return ""

    def block_bytes(self, row_size: int) -> int:
        return 2 * self.fixed_bytes(row_size)

    def fixed_bytes(self, row_size: int) -> int:
        """Two widened rows."""
        return blocks_of(row_size, _FOUR) * _FOUR * _BYTES

    def features(self, node: Node, scratch_bytes: int) -> Features:
        passes, blocks = self.packing(node, scratch_bytes)
        count, row_size = matrices(node), node.attrs.b.row_size
        words, last = divmod(row_size, _FOUR)
        fours = blocks_of(row_size, _FOUR)
        pairs = count * row_pairs(node)
        return Features(
            {
                "matrices": count,
                "passes": count * passes,
                "pairs": pairs * passes,
                "words of pairs": pairs * passes * words,
                "pairs with a rest": pairs * passes * min(last, 1),
                "columns": count * blocks,
                "words of columns": count * blocks * words,
                "columns with a rest": count * blocks * min(last, 1),
                "blocks": pairs * blocks,
                "blocks with a limit": pairs * blocks if node.attrs.clamp.limits(node.output.type) else 0,
                "steps": pairs * blocks * fours,
                "turns": pairs * blocks * blocks_of(fours - 1, 4),
            }
        )
