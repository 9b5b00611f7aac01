"""The LSTM and GRU layers of `recurrent_vectors` with weights of 4 bits, for cores with MVE."""

from __future__ import annotations

import numpy as np

from ...format.element import Element
from ...graph.ir import Node
from ...ops import gru, lstm
from ...ops.kernel import KernelSpec
from ..implementation import Symbol
from . import recurrent_vectors
from .recurrent_vectors import (
    ROWS,
    VECTOR,
    GruVectors,
    GruVectorsInt16,
    LstmVectors,
    LstmVectorsInt16,
    RecurrentVectors,
    helpers,
)

_TABLE = (
    "for each 4 rows of a gate: the 4 sums for inputs of 0, with 16 times the second and the fourth added to the ones "
    "before them; for each 16 inputs 16 bytes of rows 0 and 1, and as many of rows 2 and 3, each the weight of the "
    "first row and 16 times that of the second; the same of the hidden state"
)
_BLOCK_WORDS = "8, and half of both inputs and hidden rounded up to 16"
_HIGH = 16  # what the weight of every other row is multiplied with


def _kernel(name: str, struct: str, like: KernelSpec, layer: str, priced_as: str = "") -> KernelSpec:
    return recurrent_vectors.kernel(name, struct, like, layer, priced_as, table=_TABLE, block_words=_BLOCK_WORDS)


LSTM = _kernel("lstm_int4_vectors", "LstmInt4VectorsArgs", lstm.INT4, "LSTM")
GRU = _kernel("gru_int4_vectors", "GruInt4VectorsArgs", gru.INT4, "GRU")
LSTM_LENGTHS = _kernel("lstm_lengths_int4_vectors", "LstmLengthsInt4VectorsArgs", lstm.LENGTHS_INT4, "LSTM", LSTM.name)
GRU_LENGTHS = _kernel("gru_lengths_int4_vectors", "GruLengthsInt4VectorsArgs", gru.LENGTHS_INT4, "GRU", GRU.name)
LSTM_INT16 = _kernel("lstm_int4_vectors_int16", "LstmInt4VectorsInt16Args", lstm.INT4_INT16, "LSTM")
GRU_INT16 = _kernel("gru_int4_vectors_int16", "GruInt4VectorsInt16Args", gru.INT4_INT16, "GRU")
LSTM_LENGTHS_INT16 = _kernel(
    "lstm_lengths_int4_vectors_int16",
    "LstmLengthsInt4VectorsInt16Args",
    lstm.LENGTHS_INT4_INT16,
    "LSTM",
    LSTM_INT16.name,
)
GRU_LENGTHS_INT16 = _kernel(
    "gru_lengths_int4_vectors_int16", "GruLengthsInt4VectorsInt16Args", gru.LENGTHS_INT4_INT16, "GRU", GRU_INT16.name
)


class _Int4Vectors(RecurrentVectors):
    """A load has the weights of two rows for 16 inputs, and a shift that rounds leaves those of the second. The
    products with the bytes as they are, less 16 times the sum of the second row, are the sum of the first. That wraps,
    and so is exact for all sums. A byte has room for weights of -7 to 7, which are all that the quantizer makes."""

    weights_of_word = 8
    assumes = "no weight of -8"

    def why_not(self, node: Node) -> str:
        least = min(value.constant.min() for value in node.inputs[-4:-2])
        return "a byte has no room for a weight of -8" if least < Element.INT4.symmetric_low else ""

    def table(self, weights: np.ndarray, starts: np.ndarray) -> np.ndarray:
        first, second = np.moveaxis(
            recurrent_vectors.vectors(weights).reshape(len(weights) // ROWS, -1, 2, VECTOR), 2, 0
        )
        words = (first + _HIGH * second).astype(np.int8).reshape(len(first), -1).view("<i4")
        sums = starts.astype(np.int64).reshape(len(first), -1, 2)
        sums[..., 0] += _HIGH * sums[..., 1]
        return np.concatenate([sums.reshape(len(first), ROWS).astype(np.int32), words], axis=1)


class LstmInt4Vectors(_Int4Vectors, LstmVectors):
    name = "lstm_int4_vectors"
    like = lstm.INT4
    draws = lstm.Lstm.draws[4:5]
    symbol = Symbol(LSTM, helpers=helpers("lstm"))


class LstmLengthsInt4Vectors(LstmInt4Vectors):
    name = "lstm_lengths_int4_vectors"
    like = lstm.LENGTHS_INT4
    draws = lstm.Lstm.draws[5:6]
    symbol = Symbol(LSTM_LENGTHS, helpers=helpers("lstm"))


class GruInt4Vectors(_Int4Vectors, GruVectors):
    name = "gru_int4_vectors"
    like = gru.INT4
    draws = gru.Gru.draws[4:5]
    symbol = Symbol(GRU, helpers=helpers("gru"))


class GruLengthsInt4Vectors(GruInt4Vectors):
    name = "gru_lengths_int4_vectors"
    like = gru.LENGTHS_INT4
    draws = gru.Gru.draws[5:6]
    symbol = Symbol(GRU_LENGTHS, helpers=helpers("gru"))


class LstmInt4VectorsInt16(_Int4Vectors, LstmVectorsInt16):
    """The same with inputs of int16: 18 instructions multiply 16 of them."""

    name = "lstm_int4_vectors_int16"
    like = lstm.INT4_INT16
    draws = lstm.Lstm.draws[6:7]
    symbol = Symbol(LSTM_INT16, helpers=helpers("lstm"))


class LstmLengthsInt4VectorsInt16(LstmInt4VectorsInt16):
    name = "lstm_lengths_int4_vectors_int16"
    like = lstm.LENGTHS_INT4_INT16
    draws = lstm.Lstm.draws[7:8]
    symbol = Symbol(LSTM_LENGTHS_INT16, helpers=helpers("lstm"))


class GruInt4VectorsInt16(_Int4Vectors, GruVectorsInt16):
    name = "gru_int4_vectors_int16"
    like = gru.INT4_INT16
    draws = gru.Gru.draws[6:7]
    symbol = Symbol(GRU_INT16, helpers=helpers("gru"))


class GruLengthsInt4VectorsInt16(GruInt4VectorsInt16):
    name = "gru_lengths_int4_vectors_int16"
    like = gru.LENGTHS_INT4_INT16
    draws = gru.Gru.draws[7:8]
    symbol = Symbol(GRU_LENGTHS_INT16, helpers=helpers("gru"))
