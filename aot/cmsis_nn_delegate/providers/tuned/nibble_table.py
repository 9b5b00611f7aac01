"""The constants of kernels that multiply pairs of inputs with blocks of channels, with weights of 4 bits.

A word has those of four channels for two inputs: in its lower half for the first one, channel 0 in the lowest bits, and
in its upper half for the second. There are two ways to multiply them:

`joint`, for convolutions of int8 and for groups of inputs: half a word is a number of 16 bits, 4096, 256, 16 and 1
times the weights of four channels. Those of all but the last one are stored as numbers from 0 to 15, 8 more than they
are, so that each part of the number is such a number too. The kernel multiplies the whole number, its lower byte, and
the first and third weight alone, and the differences of these sums are those of the channels, 2^12 times as large for
the last one. They wrap, but the products of a channel have to fit. Their sums start with all that the inputs make of
the 8 that are too much, so that it is gone. Where products need more bits, kernels for wide sums add up those of the
last channel by itself, some inputs at a time; those of the others are at most 2^8 times as large.

`offset_sums`, for all others: weights are stored as numbers from 0 to 15, 8 more than they are, so that a mask is all
that they need, and sums are as large as those of 8 bits. The kernel takes 8 times the sum of the inputs from the sum
for inputs of 0; both wrap, which leaves the whole sum as it is.
"""

from __future__ import annotations

import numpy as np

from ...graph.ir import Node
from . import pair_table, requantization
from .requantization import Form

BITS = 12  # by which the largest sums of `joint` are shifted
WIDE_INPUTS = 504  # whose products have BITS less than 32 with any weights: WideNibbles in pair_products.h
START_BITS = 8  # by which `starts` are
_OFFSET = 8  # of weights
_CHANNELS = 4  # of a word


def why_none(node: Node, weights: np.ndarray) -> str:
    """Returns why the sums of `joint` weights, [channels, inputs], cannot be requantized, "" if they can."""
    largest = requantization.largest_sums(node, weights, node.inputs[2].constant.astype(np.int64))
    # Kernels add what sums start with after they have shifted the products.
    if (np.maximum(largest, _products(node, weights)) >= 1 << (31 - BITS)).any():
        return f"a sum may exceed {31 - BITS} bits"
    return _why_not_requantized(node, weights)


def why_not_wide(node: Node, weights: np.ndarray) -> str:
    """The same for wide sums. Those that `why_none` allows take more instructions so."""
    if not why_none(node, weights):
        return f"all sums fit {31 - BITS} bits"
    # The products of the third channel are 2^8 times as large; what sums start with lies in as many bits.
    if (np.maximum(_products(node, weights), np.abs(pair_table.starts(node, weights))) >= 1 << (31 - START_BITS)).any():
        return f"products, or what their sum starts with, may exceed {31 - START_BITS} bits"
    return _why_not_requantized(node, weights)


def _products(node: Node, weights: np.ndarray) -> np.ndarray:
    """Returns the largest sum of products of each channel, int64."""
    return np.asarray(-node.inputs[0].element.low * np.abs(weights.astype(np.int64)).sum(1))


def _why_not_requantized(node: Node, weights: np.ndarray) -> str:
    found = requantization.why_none(node, weights)
    if not found and (requantization.table(node, Form.FLOOR)[:, 0] > BITS).any():
        return "an output channel has finer steps than its sums, half of them or less"
    return found


def sum_words(inputs: int, channels: int) -> int:
    """Returns the size of a block of `offset_sums` in words."""
    return channels + pair_table.depth(inputs) // 2 * (channels // _CHANNELS)


def joint(weights: np.ndarray, of: int = _CHANNELS) -> np.ndarray:
    """Returns int32 [blocks, words] for the weights [channels, inputs], `of` channels in a block."""
    return _words(weights, of, np.array([*[_OFFSET] * (_CHANNELS - 1), 0], np.int8))


def starts(node: Node, weights: np.ndarray, shifts: np.ndarray) -> np.ndarray:
    """Returns the sums of `node` for inputs of 0, times 2^START_BITS, with `shifts` in the lowest bits: int32
    [channels]."""
    return np.asarray((pair_table.starts(node, weights) << START_BITS) | shifts, np.int32)


def offset_sums(node: Node, weights: np.ndarray, of: int) -> np.ndarray:
    """Returns `offset_rows` for the weights [channels, inputs] of `node`, `of` channels in a block."""
    return offset_rows(weights, pair_table.starts(node, weights), of)


def offset_rows(weights: np.ndarray, starts: np.ndarray, of: int) -> np.ndarray:
    """Returns int32 [blocks, words] for weights [channels, inputs], `of` channels in a block: their sums for inputs of
    0, which are `starts`, and 8 more than their weights."""
    words = _words(weights, of, np.full(_CHANNELS, _OFFSET, np.int8))
    start = np.zeros(len(words) * of, np.int64)
    start[: len(weights)] = starts
    return np.concatenate([start.reshape(len(words), -1).astype(np.int32), words], axis=1)


def _words(weights: np.ndarray, of: int, offsets: np.ndarray) -> np.ndarray:
    """`offsets` are added to the weights of each four channels, also to those of 0 that fill up blocks."""
    channels, inputs = weights.shape
    count, depth = pair_table.blocks(channels, of), pair_table.depth(inputs)
    padded = np.zeros((count * of, depth), np.int8)
    padded[:channels, :inputs] = weights
    nibbles = (padded + np.tile(offsets, len(padded) // _CHANNELS)[:, None]).astype(np.uint16) & 0xF
    # SXTB16 makes pairs of the inputs (0, 2) and (1, 3) of a word.
    # [block, part, channel, word, pair, parity]
    parts = nibbles.reshape(count, of // _CHANNELS, _CHANNELS, depth // 4, 2, 2)
    halves = sum(parts[:, :, channel] << (4 * channel) for channel in range(_CHANNELS))
    # [block, word, parity, part, pair]
    ordered = np.ascontiguousarray(np.asarray(halves, "<u2").transpose(0, 2, 4, 1, 3))
    return ordered.reshape(count, -1).view("<i4")
