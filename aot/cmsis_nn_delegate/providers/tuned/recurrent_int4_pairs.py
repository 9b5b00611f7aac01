"""The LSTM and GRU layers of `recurrent_pairs` with weights of 4 bits, for cores with DSP."""

from __future__ import annotations

import numpy as np

from ...ops import gru, lstm
from . import nibble_table, pair_table
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
from .recurrent_rows import layer

_TABLE_INT16 = (
    "for each 8 rows of a gate: the 8 sums for inputs of 0; the weights of 4 rows and 2 inputs per word, 8 more "
    "than they are, the first input in the lower half, the first row in its lowest bits; the same of the hidden state"
)
_TABLE = _TABLE_INT16.replace("the 8 sums", "twice the 8 sums", 1)
_BLOCK_WORDS = "16, and both inputs and hidden rounded up to 8"


class _Int4Pairs(RecurrentPairs):
    """A load has the weights of four rows for two inputs, and a mask makes pairs of them, 8 more than they are: as many
    instructions a product as with weights of 8 bits. 8 times the sum of the inputs is taken from each sum."""

    weights_of_word = 8

    def table(self, weights: np.ndarray, starts: np.ndarray) -> np.ndarray:
        return nibble_table.offset_rows(weights, 2 * starts.astype(np.int64), ROWS)


class _Int4PairsInt16(RecurrentPairs):
    """The same with inputs of int16, which are loaded as they are."""

    weights_of_word = 8

    def table(self, weights: np.ndarray, starts: np.ndarray) -> np.ndarray:
        return nibble_table.offset_rows(pair_table.for_int16(weights), starts, ROWS)


class _LstmInt4Pairs(_Int4Pairs, LstmPairs):
    """LSTM layers of int8."""


class _GruInt4Pairs(_Int4Pairs, GruPairs):
    """GRU layers of int8."""


class _LstmInt4PairsInt16(_Int4PairsInt16, LstmPairsInt16):
    """LSTM layers of int16."""


class _GruInt4PairsInt16(_Int4PairsInt16, GruPairsInt16):
    """GRU layers of int16."""


# Each also for sequences of different lengths.
LAYERS = tuple(
    layer(own, like, "pairs", table, _BLOCK_WORDS, linked)
    for own, kernels, table, linked in (
        (_LstmInt4Pairs, (lstm.INT4, lstm.LENGTHS_INT4), _TABLE, helpers("lstm")),
        (_GruInt4Pairs, (gru.INT4, gru.LENGTHS_INT4), _TABLE, helpers("gru")),
        (_LstmInt4PairsInt16, (lstm.INT4_INT16, lstm.LENGTHS_INT4_INT16), _TABLE_INT16, HELPERS_INT16),
        (_GruInt4PairsInt16, (gru.INT4_INT16, gru.LENGTHS_INT4_INT16), _TABLE_INT16, HELPERS_INT16),
    )
    for like in kernels
)
