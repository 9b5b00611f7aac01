"""LSTM and GRU layers as products of 4 rows of a gate with vectors of inputs, for cores with MVE."""

from __future__ import annotations

import numpy as np

from ...format.schema import Isa
from ...ops import gru, lstm
from . import recurrent_rows
from .recurrent_rows import RecurrentRows

ROWS = 4  # of a block
TABLE = (
    "for each 4 rows of a gate: the 4 sums for inputs of 0; for each 16 inputs, 16 weights of each row; the same of "
    "the hidden state"
)
VECTOR = 16  # inputs
_BLOCK_WORDS = "8, and both inputs and hidden rounded up to 16"


def helpers(op: str) -> tuple[str, ...]:
    return ("runtime/kernels/common/gate_vectors_{isa}.S", f"runtime/kernels/common/{op}_units_{{isa}}.S")


class RecurrentVectors(RecurrentRows):
    """Nine instructions multiply 16 inputs with the weights of four rows. Their sums become lanes of a vector, in which
    they are requantized as the operator says, whatever the factors, and passed through the function of the gate. Sums
    wrap as those of the operator, so there is nothing to prove."""

    rows = ROWS
    depth = VECTOR
    element_bytes = 1
    isas = frozenset({Isa.MVE})
    assumes = "nothing"

    def table(self, weights: np.ndarray, starts: np.ndarray) -> np.ndarray:
        words = vectors(weights).reshape(len(weights) // ROWS, -1).view("<i4")
        return np.concatenate([starts.reshape(len(words), -1).astype(np.int32), words], axis=1)


def vectors(weights: np.ndarray) -> np.ndarray:
    """Returns int8 weights [rows, size], of whole blocks, as [block, vector, row, input], filled up with zeros."""
    filled = np.pad(weights, ((0, 0), (0, -weights.shape[1] % VECTOR)))
    return np.ascontiguousarray(filled.reshape(-1, ROWS, filled.shape[1] // VECTOR, VECTOR).transpose(0, 2, 1, 3))


class LstmVectors(RecurrentVectors):
    op = "lstm"


class GruVectors(RecurrentVectors):
    op = "gru"


class LstmVectorsInt16(LstmVectors):
    """Eighteen instructions multiply 16 inputs of int16 with the weights of four rows; all else is as with int8."""

    element_bytes = 2


class GruVectorsInt16(GruVectors):
    """The same of a GRU."""

    element_bytes = 2


# Each also for sequences of different lengths.
LAYERS = tuple(
    recurrent_rows.layer(own, like, "vectors", TABLE, _BLOCK_WORDS, helpers(own.op))
    for own, kernels in (
        (LstmVectors, (lstm.KERNEL, lstm.LENGTHS_KERNEL)),
        (GruVectors, (gru.KERNEL, gru.LENGTHS_KERNEL)),
        (LstmVectorsInt16, (lstm.INT16, lstm.LENGTHS_INT16)),
        (GruVectorsInt16, (gru.INT16, gru.LENGTHS_INT16)),
    )
    for like in kernels
)
