"""The LSTM and GRU layers of `recurrent_vectors` with weights of 4 bits, for cores with MVE."""

from __future__ import annotations

import numpy as np

from ...format.element import Element
from ...graph.ir import Node
from ...ops import gru, lstm
from . import recurrent_vectors
from .recurrent_rows import layer
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
    "for each 4 rows of a gate: the 4 sums for inputs of 0, to the first and the third of which 16 times the one after "
    "them is added; for each 16 inputs, 16 bytes for rows 0 and 1 and 16 for rows 2 and 3, each of which is the weight "
    "of the first row plus 16 times that of the second; the same of the hidden state"
)
_BLOCK_WORDS = "8, and half of both inputs and hidden rounded up to 16"
_HIGH = 16  # what the weight of every other row is multiplied with


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


class _LstmInt4Vectors(_Int4Vectors, LstmVectors):
    """LSTM layers of int8."""


class _GruInt4Vectors(_Int4Vectors, GruVectors):
    """GRU layers of int8."""


class _LstmInt4VectorsInt16(_Int4Vectors, LstmVectorsInt16):
    """LSTM layers of int16: 18 instructions multiply 16 inputs with the weights of four rows."""


class _GruInt4VectorsInt16(_Int4Vectors, GruVectorsInt16):
    """GRU layers of int16, which take as many."""


# Each also for sequences of different lengths.
LAYERS = tuple(
    layer(own, like, "vectors", _TABLE, _BLOCK_WORDS, helpers(own.op))
    for own, kernels in (
        (_LstmInt4Vectors, (lstm.INT4, lstm.LENGTHS_INT4)),
        (_GruInt4Vectors, (gru.INT4, gru.LENGTHS_INT4)),
        (_LstmInt4VectorsInt16, (lstm.INT4_INT16, lstm.LENGTHS_INT4_INT16)),
        (_GruInt4VectorsInt16, (gru.INT4_INT16, gru.LENGTHS_INT4_INT16)),
    )
    for like in kernels
)
