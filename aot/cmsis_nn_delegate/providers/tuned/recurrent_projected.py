"""LSTM layers with a projection: the gates and units of an LSTM, and a linear layer of one row behind them in each
step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ...format import blocks
from ...format.record import I32, Field, Role
from ...graph.ir import Node
from ...ops import lstm_projected
from ...ops.features import Features
from ...ops.kernel import KernelSpec
from ...ops.lstm_projected import LstmProjected
from ..implementation import Symbol
from . import pair_table, recurrent_pairs, recurrent_rows, recurrent_vectors, requantization, vector_table
from .recurrent_pairs import LstmPairs
from .recurrent_rows import RecurrentRows
from .recurrent_vectors import LstmVectors

_OP = LstmProjected()


def _kernel(name: str, struct: str, rows: int, table: str, block_words: str, channels: int, words: str) -> KernelSpec:
    like = lstm_projected.KERNEL
    projection = (
        blocks.operand(
            Role.FILTER, "projection", I32, ("projection_blocks", "projection_words"), "the weight of the projection"
        ),
        Field("projection_blocks", I32, f"outputs / {channels}, rounded up"),
        Field("projection_words", I32, words),
    )
    doc = f"int8 LSTM layer in one direction, as {like.name} computes it, from weights in the order of the products."
    return KernelSpec(name, recurrent_rows.struct(struct, like, doc, rows, table, block_words, projection))


_PAIRS = _kernel(
    "lstm_projected_pairs",
    "LstmProjectedPairsArgs",
    recurrent_pairs.ROWS,
    recurrent_pairs.TABLE,
    "16, and twice both inputs and outputs rounded up to 8",
    recurrent_pairs.ROWS,
    "8, and twice hidden rounded up to 8",
)
_VECTORS = _kernel(
    "lstm_projected_vectors",
    "LstmProjectedVectorsArgs",
    recurrent_vectors.ROWS,
    recurrent_vectors.TABLE,
    "8, and both inputs and outputs rounded up to 16",
    vector_table.CHANNELS,
    "6, and half of hidden rounded up to 16",
)


class _Projected(RecurrentRows):
    """What both have in common. The units of a step lie behind its gates."""

    op = LstmProjected.name
    like = lstm_projected.KERNEL
    draws = LstmProjected.draws[:1]
    channels: ClassVar[int]  # of a block of the projection

    def scratch_bytes(self, node: Node) -> int:
        return super().scratch_bytes(node) + self._unit_depth(node)

    def features(self, node: Node, scratch_bytes: int) -> Features:
        counts, steps = super().features(node, scratch_bytes).counts, self._steps(node)
        projected = steps * -(-_OP.width(node) // self.channels)
        products = projected * self._unit_depth(node) // self.depth
        return Features({**counts, "projected blocks": projected, "projected products": products})

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        return {**super().constants(node), "projection": self._projection(node)}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        count, words = self._projection(node).shape
        return {**super().encode(node, refs, scratch_bytes), "projection_blocks": count, "projection_words": words}

    def _projection(self, node: Node) -> np.ndarray:
        """Returns int32 [blocks, words]."""
        raise NotImplementedError(self.name)

    def _unit_depth(self, node: Node) -> int:
        """Returns how many units a row of the projection has weights for."""
        return -(-self._sizes(node).hidden // self.depth) * self.depth


class LstmProjectedPairs(_Projected, LstmPairs):
    """The linear layer is that of `FullyConnectedPairs`, with one scale."""

    name = "lstm_projected_pairs"
    channels = recurrent_pairs.ROWS
    symbol = Symbol(_PAIRS, helpers=(*recurrent_pairs.helpers("lstm"), "runtime/kernels/common/row_products_{isa}.S"))

    def why_not(self, node: Node) -> str:
        weight, (_, shift) = _OP.projection(node).constant, _OP.output_multiplier(node)
        largest = np.abs(_OP.projection_bias(node).astype(np.int64)) + 128 * np.abs(weight.astype(np.int64)).sum(1)
        try:
            requantization.check_shifts(largest, np.array([shift]))
        except ValueError as error:
            return str(error)
        return super().why_not(node)

    def _multiplier(self, node: Node) -> tuple[int, int]:
        return _OP.unit_multiplier(node)

    def _projection(self, node: Node) -> np.ndarray:
        return pair_table.rows(_OP.projection(node).constant, _OP.projection_bias(node), self.channels)


class LstmProjectedVectors(_Projected, LstmVectors):
    """The linear layer is that of `Conv2dVectors`, whose four windows are all the units."""

    name = "lstm_projected_vectors"
    channels = vector_table.CHANNELS
    assumes = "two outputs or more, and a shift of them to the right"
    symbol = Symbol(
        _VECTORS, helpers=(*recurrent_vectors.helpers("lstm"), "runtime/kernels/common/vector_products_{isa}.S")
    )

    def why_not(self, node: Node) -> str:
        if _OP.width(node) < self.channels:
            return f"it computes {self.channels} outputs or more"
        if _OP.output_multiplier(node)[1] > -1:
            return "its outputs have finer steps than their sums, half of them or less"
        return super().why_not(node)

    def _projection(self, node: Node) -> np.ndarray:
        multiplier, shift = (np.full(_OP.width(node), number) for number in _OP.output_multiplier(node))
        return vector_table.table(_OP.projection(node).constant, _OP.projection_bias(node), multiplier, shift)
