"""The constants of kernels that multiply pairs of inputs with blocks of channels, with weights of 4 bits.

A word has those of four channels for two inputs: in its lower half for the first one, channel 0 in the lowest bits, and
in its upper half for the second. A shift and a mask make a weight the upper 4 bits of 16, so that sums are 2^12 times
as large as those of the weights; they wrap, but the whole sum of a channel has to fit. Requantization shifts them back
where it shifts sums anyway, which is exact as their last 12 bits are 0.
"""

from __future__ import annotations

import numpy as np

from ...graph.ir import Node
from . import pair_table, requantization
from .requantization import Form

BITS = 12  # by which sums are shifted
_CHANNELS = 4  # of a word


def why_none(node: Node, weights: np.ndarray) -> str:
    """Returns why a sum with `weights`, [channels, inputs], cannot be requantized so, "" if it can."""
    largest = requantization.largest_sums(node, weights, node.inputs[2].constant.astype(np.int64))
    if (largest >= 1 << (31 - BITS)).any():
        return f"a sum may exceed {31 - BITS} bits"
    found = requantization.why_none(node, weights)
    if not found and (requantization.table(node, Form.FLOOR)[:, 0] > BITS).any():
        return "an output channel has finer steps than its sums, half of them or less"
    return found


def sum_words(inputs: int, channels: int) -> int:
    """Returns the size of a block of `sums` in words."""
    return channels + pair_table.depth(inputs) // 2 * (channels // _CHANNELS)


def sums(node: Node, weights: np.ndarray, of: int) -> np.ndarray:
    """Returns int32 [blocks, words] for the weights [channels, inputs] of `node`, `of` channels in a block: their sums
    for inputs of 0, times 2^BITS, and their weights."""
    channels, inputs = weights.shape
    count, depth = pair_table.blocks(channels, of), pair_table.depth(inputs)
    padded = np.zeros((count * of, depth), np.uint16)
    padded[:channels, :inputs] = weights.astype(np.uint8) & 0xF
    start = np.zeros(count * of, np.int64)
    start[:channels] = pair_table.starts(node, weights)
    # SXTB16 makes pairs of the inputs (0, 2) and (1, 3) of a word.
    # [block, part, channel, word, pair, parity]
    nibbles = padded.reshape(count, of // _CHANNELS, _CHANNELS, depth // 4, 2, 2)
    halves = sum(nibbles[:, :, channel] << (4 * channel) for channel in range(_CHANNELS))
    # [block, word, parity, part, pair]
    ordered = np.ascontiguousarray(np.asarray(halves, "<u2").transpose(0, 2, 4, 1, 3))
    words = ordered.reshape(count, -1).view("<i4")
    return np.concatenate([(start << BITS).reshape(count, -1).astype(np.int32), words], axis=1)


def scales(node: Node, form: Form) -> np.ndarray:
    """Returns what `requantization.table` does, for these sums."""
    words = requantization.table(node, form)
    if form is Form.FLOOR:
        words[:, 0] = _to_the_right(words[:, 0])
    return words


def packed(node: Node, form: Form) -> np.ndarray:
    """Returns what `requantization.packed` does, for these sums."""
    words = requantization.packed(node, form)
    if form is Form.FLOOR:
        words[:, 0] = (words[:, 0] & ~0xFF) | _to_the_right(words[:, 0] & 0xFF)
    return words


def _to_the_right(left: np.ndarray) -> np.ndarray:
    """Returns the shift of FLOOR for sums that are shifted to the left already."""
    return np.asarray(BITS - left)
