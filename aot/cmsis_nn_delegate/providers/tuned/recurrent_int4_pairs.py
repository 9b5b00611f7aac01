"""The LSTM and GRU layers of `recurrent_pairs` with weights of 4 bits, for cores with DSP."""

from __future__ import annotations

import numpy as np

from ...format.element import Element
from ...ops import gru, lstm
from ...ops.kernel import KernelSpec
from ..implementation import Symbol
from . import nibble_table, pair_table, recurrent_pairs
from .recurrent_pairs import (
    HELPERS_INT16,
    ROWS,
    GruPairs,
    GruPairsInt16,
    LstmPairs,
    LstmPairsInt16,
    RecurrentPairs,
    helpers,
)

_TABLE_INT16 = (
    "for each 8 rows of a gate: the 8 sums for inputs of 0; the weights of 4 rows and 2 inputs per word, 8 more "
    "than they are, the first input in the lower half, the first row in its lowest bits; the same of the hidden state"
)
_TABLE = _TABLE_INT16.replace("the 8 sums", "twice the 8 sums", 1)
_BLOCK_WORDS = "16, and both inputs and hidden rounded up to 8"


def _kernel(name: str, struct: str, like: KernelSpec, layer: str, priced_as: str = "") -> KernelSpec:
    table = _TABLE_INT16 if like.elements["input"] is Element.INT16 else _TABLE
    return recurrent_pairs.kernel(name, struct, like, layer, priced_as, table=table, block_words=_BLOCK_WORDS)


LSTM = _kernel("lstm_int4_pairs", "LstmInt4PairsArgs", lstm.INT4, "LSTM")
GRU = _kernel("gru_int4_pairs", "GruInt4PairsArgs", gru.INT4, "GRU")
LSTM_LENGTHS = _kernel("lstm_lengths_int4_pairs", "LstmLengthsInt4PairsArgs", lstm.LENGTHS_INT4, "LSTM", LSTM.name)
GRU_LENGTHS = _kernel("gru_lengths_int4_pairs", "GruLengthsInt4PairsArgs", gru.LENGTHS_INT4, "GRU", GRU.name)
LSTM_INT16 = _kernel("lstm_int4_pairs_int16", "LstmInt4PairsInt16Args", lstm.INT4_INT16, "LSTM")
GRU_INT16 = _kernel("gru_int4_pairs_int16", "GruInt4PairsInt16Args", gru.INT4_INT16, "GRU")
LSTM_LENGTHS_INT16 = _kernel(
    "lstm_lengths_int4_pairs_int16", "LstmLengthsInt4PairsInt16Args", lstm.LENGTHS_INT4_INT16, "LSTM", LSTM_INT16.name
)
GRU_LENGTHS_INT16 = _kernel(
    "gru_lengths_int4_pairs_int16", "GruLengthsInt4PairsInt16Args", gru.LENGTHS_INT4_INT16, "GRU", GRU_INT16.name
)


class _Int4Pairs(RecurrentPairs):
    """A load has the weights of four rows for two inputs, and a mask makes pairs of them, 8 more than they are: as many
    instructions a product as with weights of 8 bits. 8 times the sum of the inputs is taken from each sum."""

    weights_of_word = 8

    def table(self, weights: np.ndarray, starts: np.ndarray) -> np.ndarray:
        return nibble_table.offset_rows(weights, 2 * starts.astype(np.int64), ROWS)


class LstmInt4Pairs(_Int4Pairs, LstmPairs):
    name = "lstm_int4_pairs"
    like = lstm.INT4
    draws = lstm.Lstm.draws[4:5]
    symbol = Symbol(LSTM, helpers=helpers("lstm"))


class LstmLengthsInt4Pairs(LstmInt4Pairs):
    name = "lstm_lengths_int4_pairs"
    like = lstm.LENGTHS_INT4
    draws = lstm.Lstm.draws[5:6]
    symbol = Symbol(LSTM_LENGTHS, helpers=helpers("lstm"))


class GruInt4Pairs(_Int4Pairs, GruPairs):
    name = "gru_int4_pairs"
    like = gru.INT4
    draws = gru.Gru.draws[4:5]
    symbol = Symbol(GRU, helpers=helpers("gru"))


class GruLengthsInt4Pairs(GruInt4Pairs):
    name = "gru_lengths_int4_pairs"
    like = gru.LENGTHS_INT4
    draws = gru.Gru.draws[5:6]
    symbol = Symbol(GRU_LENGTHS, helpers=helpers("gru"))


class _Int4PairsInt16(RecurrentPairs):
    """The same with inputs of int16, which are loaded as they are."""

    weights_of_word = 8

    def table(self, weights: np.ndarray, starts: np.ndarray) -> np.ndarray:
        return nibble_table.offset_rows(pair_table.for_int16(weights), starts, ROWS)


class LstmInt4PairsInt16(_Int4PairsInt16, LstmPairsInt16):
    name = "lstm_int4_pairs_int16"
    like = lstm.INT4_INT16
    draws = lstm.Lstm.draws[6:7]
    symbol = Symbol(LSTM_INT16, helpers=HELPERS_INT16)


class LstmLengthsInt4PairsInt16(LstmInt4PairsInt16):
    name = "lstm_lengths_int4_pairs_int16"
    like = lstm.LENGTHS_INT4_INT16
    draws = lstm.Lstm.draws[7:8]
    symbol = Symbol(LSTM_LENGTHS_INT16, helpers=HELPERS_INT16)


class GruInt4PairsInt16(_Int4PairsInt16, GruPairsInt16):
    name = "gru_int4_pairs_int16"
    like = gru.INT4_INT16
    draws = gru.Gru.draws[6:7]
    symbol = Symbol(GRU_INT16, helpers=HELPERS_INT16)


class GruLengthsInt4PairsInt16(GruInt4PairsInt16):
    name = "gru_lengths_int4_pairs_int16"
    like = gru.LENGTHS_INT4_INT16
    draws = gru.Gru.draws[7:8]
    symbol = Symbol(GRU_LENGTHS_INT16, helpers=HELPERS_INT16)
