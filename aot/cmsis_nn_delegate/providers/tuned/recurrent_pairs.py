"""LSTM and GRU layers as products of 8 rows of a gate, for cores with DSP."""

from __future__ import annotations

from typing import Optional

import numpy as np

from ...format.schema import Isa
from ...graph.ir import Node
from ...ops import gru, lstm
from ...ops.quantized_math import INT32_MAX
from . import pair_table, recurrent_rows
from .recurrent_rows import RecurrentRows, op_of

ROWS = 8  # of a block
TABLE = (
    "for each 8 rows of a gate: twice the 8 sums for inputs of 0; the weights of 2 rows and 2 inputs per word; the "
    "same of the hidden state"
)
_BLOCK_WORDS = "16, and twice both inputs and hidden rounded up to 8"
LARGEST_PRODUCT = 1 << 30  # of results of gates' functions, and of one with a cell
_LARGEST_STATE = 1 << 15


HELPERS_INT16 = ("runtime/kernels/common/gate_pairs_{isa}.S",)


def helpers(op: str) -> tuple[str, ...]:
    return ("runtime/kernels/common/gate_pairs_{isa}.S", f"runtime/kernels/common/{op}_units_{{isa}}.S")


class RecurrentPairs(RecurrentRows):
    """Inputs and outputs of the step before are widened once a step, and doubled, because the high word of a product
    then has the bits of the requantized sum. Eight rows at a time are requantized with the factors of their gate, and
    passed through its function, a line of a table for each 1/24 of its argument."""

    rows = ROWS
    depth = pair_table.DEPTH
    element_bytes = 2
    isas = frozenset({Isa.DSP})
    assumes = "four units or more, and sums of 30 bits"
    # The largest number that is requantized to an output.
    _largest: int

    def why_not(self, node: Node) -> str:
        hidden = self._sizes(node).hidden
        spare = self._units(node) - hidden
        if spare > hidden:
            return f"its weights come in blocks of {ROWS} units, of which {spare} would be empty"
        return _why_no_gates(node) or self._why_no_output(node) or ""

    def _why_no_output(self, node: Node) -> Optional[str]:
        """As in requantization.py, form ANY: the zero point and half of a step are added before the shift."""
        multiplier, shift = self._multiplier(node)
        if not -30 <= shift <= -1:
            return "its output has finer steps than its state, or far larger ones"
        largest = (self._largest * multiplier >> 31) + 1 + (1 << -shift - 1) + (128 << -shift)
        return None if largest <= INT32_MAX else "its output has far larger steps than its state"

    def _multiplier(self, node: Node) -> tuple[int, int]:
        """Returns what requantizes the results of units."""
        return op_of(node).output_multiplier(node)

    def table(self, weights: np.ndarray, starts: np.ndarray) -> np.ndarray:
        return pair_table.rows(weights, 2 * starts.astype(np.int64), ROWS)


class LstmPairs(RecurrentPairs):
    op = "lstm"
    _largest = LARGEST_PRODUCT


class GruPairs(RecurrentPairs):
    op = "gru"
    _largest = _LARGEST_STATE


class _PairsInt16(RecurrentPairs):
    """Pairs of inputs of int16 are loaded as they are, and sums doubled once they are complete. What is made of the
    gates is plain C++, which requantizes outputs as the operator does."""

    def _why_no_output(self, node: Node) -> Optional[str]:
        """Twice a number, shifted to the left, has to fit 32 bits."""
        _, shift = self._multiplier(node)
        fits = shift >= -30 and self._largest << max(shift, 0) <= 1 << 30
        return None if fits else "its output has far finer or coarser steps than its state"

    def table(self, weights: np.ndarray, starts: np.ndarray) -> np.ndarray:
        return pair_table.rows(pair_table.for_int16(weights), starts, ROWS)


class LstmPairsInt16(_PairsInt16):
    op = "lstm"
    _largest = LARGEST_PRODUCT


class GruPairsInt16(_PairsInt16):
    op = "gru"
    _largest = _LARGEST_STATE


def _why_no_gates(node: Node) -> str:
    """As in requantization.py, form ANY with a zero point of 0 where a gate has a shift to the right; without one, the
    first rounding is the only one. Both need the doubled sum, shifted to the left, in 32 bits."""
    hidden, most = op_of(node).sizes(node).hidden, -node.inputs[0].element.low
    fields = op_of(node).node_multipliers(node)
    for value, starts, name in zip(node.inputs[-4:-2], op_of(node).biases(node), ("input", "recurrent")):
        largest = np.abs(starts.astype(np.int64)) + most * np.abs(value.constant.astype(np.int64)).sum(1)
        for gate, found in zip(fields, largest.reshape(-1, hidden).max(1)):
            if int(found) << max(gate[f"{name}_shift"], 0) >= 1 << 30:
                return "a sum of a gate may exceed 30 bits"
            if gate[f"{name}_shift"] < -30:
                return "a gate is scaled down by more than 2^30"
    return ""


# Each also for sequences of different lengths.
LAYERS = tuple(
    recurrent_rows.layer(own, like, "pairs", TABLE, _BLOCK_WORDS, linked)
    for own, kernels, linked in (
        (LstmPairs, (lstm.KERNEL, lstm.LENGTHS_KERNEL), helpers("lstm")),
        (GruPairs, (gru.KERNEL, gru.LENGTHS_KERNEL), helpers("gru")),
        (LstmPairsInt16, (lstm.INT16, lstm.LENGTHS_INT16), HELPERS_INT16),
        (GruPairsInt16, (gru.INT16, gru.LENGTHS_INT16), HELPERS_INT16),
    )
    for like in kernels
)
