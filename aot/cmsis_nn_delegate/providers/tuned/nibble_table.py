"""The constants of kernels that multiply pairs of inputs with blocks of channels, with weights of 4 bits.

A word has those of four channels for two inputs: in its lower half for the first one, channel 0 in the lowest bits, and
in its upper half for the second. There are two ways to multiply them:

`sums`, for convolutions of int8: a shift and a mask make a weight the upper 4 bits of 16, so that sums are 2^12 times
as large as those of the weights; they wrap, but the whole sum of a channel has to fit. Requantization shifts them back
where it shifts sums anyway, which is exact as their last 12 bits are 0.

`offset_sums`, for all others: weights are stored as numbers from 0 to 15, 8 more than they are, so that a mask is all
that they need, and sums are as large as those of 8 bits. The kernel takes 8 times the sum of the inputs from the sum
for inputs of 0; both wrap, which leaves the whole sum as it is.
"""

from __future__ import annotations

import numpy as np

from ...graph.ir import Node
from . import pair_table, requantization
from .requantization import Form

BITS = 12  # by which `sums` are shifted
_OFFSET = 8  # of the weights of `offset_sums`
_CHANNELS = 4  # of a word


def why_none(node: Node, weights: np.ndarray) -> str:
    """Returns why `sums` of `weights`, [channels, inputs], cannot be requantized, "" if they can."""
    largest = requantization.largest_sums(node, weights, node.inputs[2].constant.astype(np.int64))
    if (largest >= 1 << (31 - BITS)).any():
        return f"a sum may exceed {31 - BITS} bits"
    found = requantization.why_none(node, weights)
    if not found and (requantization.table(node, Form.FLOOR)[:, 0] > BITS).any():
        return "an output channel has finer steps than its sums, half of them or less"
    return found


def sum_words(inputs: int, channels: int) -> int:
    """Returns the size of a block of either in words."""
    return channels + pair_table.depth(inputs) // 2 * (channels // _CHANNELS)


def sums(node: Node, weights: np.ndarray, of: int) -> np.ndarray:
    """Returns int32 [blocks, words] for the weights [channels, inputs] of `node`, `of` channels in a block: their sums
    for inputs of 0, times 2^BITS, and their weights."""
    return _rows(weights, pair_table.starts(node, weights) << BITS, of)


def offset_sums(node: Node, weights: np.ndarray, of: int) -> np.ndarray:
    """Returns the same with sums as they are, and 8 more than the weights."""
    return _rows(weights, pair_table.starts(node, weights), of, _OFFSET)


def _rows(weights: np.ndarray, starts: np.ndarray, of: int, offset: int = 0) -> np.ndarray:
    """`offset` is added to the weights, also to those of 0 that fill up blocks."""
    channels, inputs = weights.shape
    count, depth = pair_table.blocks(channels, of), pair_table.depth(inputs)
    padded = np.zeros((count * of, depth), np.int8)
    padded[:channels, :inputs] = weights
    nibbles = (padded + np.int8(offset)).astype(np.uint16) & 0xF
    start = np.zeros(count * of, np.int64)
    start[:channels] = starts
    # SXTB16 makes pairs of the inputs (0, 2) and (1, 3) of a word.
    # [block, part, channel, word, pair, parity]
    parts = nibbles.reshape(count, of // _CHANNELS, _CHANNELS, depth // 4, 2, 2)
    halves = sum(parts[:, :, channel] << (4 * channel) for channel in range(_CHANNELS))
    # [block, word, parity, part, pair]
    ordered = np.ascontiguousarray(np.asarray(halves, "<u2").transpose(0, 2, 4, 1, 3))
    words = ordered.reshape(count, -1).view("<i4")
    return np.concatenate([start.reshape(count, -1).astype(np.int32), words], axis=1)
