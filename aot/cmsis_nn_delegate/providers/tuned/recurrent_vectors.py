"""LSTM and GRU layers as products of 4 rows of a gate with vectors of inputs, for cores with MVE."""

from __future__ import annotations

import numpy as np

from ...format.schema import Isa
from ...ops import gru, lstm
from ...ops.kernel import KernelSpec
from ..implementation import Symbol
from . import recurrent_rows
from .recurrent_rows import RecurrentRows

ROWS = 4  # of a block
TABLE = (
    "for each 4 rows of a gate: the 4 sums for inputs of 0; for each 16 inputs, 16 weights of each row; the same of "
    "the hidden state"
)
VECTOR = 16  # inputs


def kernel(
    name: str,
    struct: str,
    like: KernelSpec,
    layer: str,
    priced_as: str = "",
    *,
    table: str = TABLE,
    block_words: str = "8, and both inputs and hidden rounded up to 16",
) -> KernelSpec:
    """Returns the kernel of a `layer` for the calls of `like`; `table` and `block_words` are docs of fields."""
    doc = (
        f"{like.elements['input'].value} {layer} layer in one direction, as {like.name} computes it, from weights in "
        "the order of the products."
    )
    return KernelSpec(name, recurrent_rows.struct(struct, like, doc, ROWS, table, block_words), priced_as=priced_as)


LSTM = kernel("lstm_vectors", "LstmVectorsArgs", lstm.KERNEL, "LSTM")
GRU = kernel("gru_vectors", "GruVectorsArgs", gru.KERNEL, "GRU")
LSTM_LENGTHS = kernel("lstm_lengths_vectors", "LstmLengthsVectorsArgs", lstm.LENGTHS_KERNEL, "LSTM", LSTM.name)
GRU_LENGTHS = kernel("gru_lengths_vectors", "GruLengthsVectorsArgs", gru.LENGTHS_KERNEL, "GRU", GRU.name)
LSTM_INT16 = kernel("lstm_vectors_int16", "LstmVectorsInt16Args", lstm.INT16, "LSTM")
GRU_INT16 = kernel("gru_vectors_int16", "GruVectorsInt16Args", gru.INT16, "GRU")
LSTM_LENGTHS_INT16 = kernel(
    "lstm_lengths_vectors_int16", "LstmLengthsVectorsInt16Args", lstm.LENGTHS_INT16, "LSTM", LSTM_INT16.name
)
GRU_LENGTHS_INT16 = kernel(
    "gru_lengths_vectors_int16", "GruLengthsVectorsInt16Args", gru.LENGTHS_INT16, "GRU", GRU_INT16.name
)


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
    name = "lstm_vectors"
    op = "lstm"
    like = lstm.KERNEL
    draws = lstm.Lstm.draws[:1]
    symbol = Symbol(LSTM, helpers=helpers("lstm"))


class LstmLengthsVectors(LstmVectors):
    name = "lstm_lengths_vectors"
    like = lstm.LENGTHS_KERNEL
    draws = lstm.Lstm.draws[1:2]
    symbol = Symbol(LSTM_LENGTHS, helpers=helpers("lstm"))


class GruVectors(RecurrentVectors):
    name = "gru_vectors"
    op = "gru"
    like = gru.KERNEL
    draws = gru.Gru.draws[:1]
    symbol = Symbol(GRU, helpers=helpers("gru"))


class GruLengthsVectors(GruVectors):
    name = "gru_lengths_vectors"
    like = gru.LENGTHS_KERNEL
    draws = gru.Gru.draws[1:2]
    symbol = Symbol(GRU_LENGTHS, helpers=helpers("gru"))


class LstmVectorsInt16(LstmVectors):
    """Eighteen instructions multiply 16 inputs of int16 with the weights of four rows; all else is as with int8."""

    name = "lstm_vectors_int16"
    like = lstm.INT16
    draws = lstm.Lstm.draws[2:3]
    element_bytes = 2
    symbol = Symbol(LSTM_INT16, helpers=helpers("lstm"))


class LstmLengthsVectorsInt16(LstmVectorsInt16):
    name = "lstm_lengths_vectors_int16"
    like = lstm.LENGTHS_INT16
    draws = lstm.Lstm.draws[3:4]
    symbol = Symbol(LSTM_LENGTHS_INT16, helpers=helpers("lstm"))


class GruVectorsInt16(GruVectors):
    name = "gru_vectors_int16"
    like = gru.INT16
    draws = gru.Gru.draws[2:3]
    element_bytes = 2
    symbol = Symbol(GRU_INT16, helpers=helpers("gru"))


class GruLengthsVectorsInt16(GruVectorsInt16):
    name = "gru_lengths_vectors_int16"
    like = gru.LENGTHS_INT16
    draws = gru.Gru.draws[3:4]
    symbol = Symbol(GRU_LENGTHS_INT16, helpers=helpers("gru"))
