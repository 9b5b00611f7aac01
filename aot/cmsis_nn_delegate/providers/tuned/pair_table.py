"""The constants of kernels that multiply pairs of inputs with blocks of channels."""

from __future__ import annotations

import numpy as np

from ...graph.ir import Node
from .requantization import WORDS, largest_sums

DEPTH = 8  # inputs of a step of the inner loop
JOINT_BITS = 8  # of the first of two channels, in `joint`


def depth(inputs: int) -> int:
    """Returns `inputs`, those of a sum, rounded up to steps."""
    return -(-inputs // DEPTH) * DEPTH


def blocks(channels: int, of: int) -> int:
    """Returns how many blocks of `of` channels hold `channels`."""
    return -(-channels // of)


def sum_words(inputs: int, channels: int) -> int:
    """Returns the size of a block of `sums` in words."""
    return channels + depth(inputs) * channels // 4


def in_order(weights: np.ndarray, dilation_w: int) -> np.ndarray:
    """Returns int8 [channels, inputs] of `weights` [channels, height, width, inputs] in the order in which the kernels
    read a window: the whole words of each segment, bytes that lie side by side in the image, and then what is left of
    the segments."""
    channels, height, width, inputs = weights.shape
    segment = width * inputs if dilation_w == 1 else inputs
    segments = weights.reshape(channels, height * width * inputs // segment, segment)
    whole = segment // 4 * 4
    return np.concatenate([part.reshape(channels, -1) for part in np.split(segments, [whole], axis=2)], axis=1)


def sums(node: Node, weights: np.ndarray, of: int) -> np.ndarray:
    """Returns `rows` for the weights [channels, inputs] of `node`, `of` channels in a block."""
    return rows(weights, starts(node, weights), of)


def starts(node: Node, weights: np.ndarray) -> np.ndarray:
    """Returns what all sums of `node` have in common, the bias and the zero point of the input: int64 [channels]."""
    return np.asarray(node.inputs[2].constant - node.inputs[0].zero_point * weights.sum(1, dtype=np.int64))


def rows(weights: np.ndarray, starts: np.ndarray, of: int) -> np.ndarray:
    """Returns int32 [blocks, words] for weights [channels, inputs], `of` channels in a block: their sums for inputs of
    0, which are `starts`, and their weights."""
    channels, inputs = weights.shape
    count, padded_inputs = blocks(channels, of), depth(inputs)
    padded = np.zeros((count * of, padded_inputs), np.int8)
    padded[:channels, :inputs] = weights
    start = np.zeros(count * of, np.int64)
    start[:channels] = starts
    # SXTB16 makes pairs of the inputs (0, 2) and (1, 3) of a word; weights of two channels follow in this order.
    pairs = padded.reshape(count, of // 2, 2, padded_inputs // 4, 2, 2)  # [block, half, channel, word, pair, parity]
    words = pairs.transpose(0, 3, 5, 1, 4, 2)  # [block, word, parity, half, pair, channel]
    weight_words = np.ascontiguousarray(words).reshape(count, -1).view("<i4")
    return np.concatenate([start.reshape(count, -1).astype(np.int32), weight_words], axis=1)


def why_not_joint(node: Node, weights: np.ndarray) -> str:
    """Returns why `joint` does not hold the weights [channels, inputs] of `node`, "" if it does."""
    low, high = weights[: len(weights) // 2 * 2 : 2], weights[1::2]
    channels = np.flatnonzero(((high == -128) & (low < 0)).any(1))
    if channels.size:
        return f"channel {2 * channels[0] + 1} has a weight of -128 beside a negative one of the channel before"
    largest = largest_sums(node, weights, node.inputs[2].constant.astype(np.int64))[1::2]
    if (largest >= 1 << (31 - JOINT_BITS)).any():
        return f"a sum may exceed {31 - JOINT_BITS} bits"
    return ""


def joint(blocks_of_sums: np.ndarray, of: int) -> np.ndarray:
    """Returns `blocks_of_sums`, int32 [blocks, words] of `rows`, with 2^JOINT_BITS * second + first in the place of
    each second of two channels: of the 16 bits with the weights of both for an input, and of the sums for inputs of 0.

    The lower byte of such a weight is still the first channel's, so that the products with all of it are
    2^JOINT_BITS * second + first again. They wrap, but their difference to the first channel's sum is 2^JOINT_BITS
    times the second one's, which has few enough bits."""
    starts = blocks_of_sums[:, :of].astype(np.int64)
    starts[:, 1::2] = (starts[:, 1::2] << JOINT_BITS) + starts[:, ::2]
    halves = np.ascontiguousarray(blocks_of_sums[:, of:]).view(np.int8).reshape(len(blocks_of_sums), -1, 2).copy()
    halves[:, :, 1] -= halves[:, :, 0] < 0
    weights = halves.reshape(len(blocks_of_sums), -1).view("<i4")
    return np.concatenate([starts.astype(np.int32), weights], axis=1)


def for_int16(weights: np.ndarray) -> np.ndarray:
    """Returns `weights`, int8 [channels, inputs], as `rows` takes them for inputs of int16, whose pairs are the inputs
    (0, 1) and (2, 3) of four: filled up with zeros to a multiple of four."""
    channels, inputs = weights.shape
    padded = np.pad(weights, ((0, 0), (0, -inputs % 4)))
    return padded.reshape(channels, -1, 2, 2).swapaxes(2, 3).reshape(channels, -1)


def table(blocks_of_sums: np.ndarray, scales: np.ndarray, of: int) -> np.ndarray:
    """Returns `blocks_of_sums`, int32 [blocks, words], each followed by what requantizes its `of` channels: `scales`,
    int32 [channels, WORDS]."""
    padded = np.zeros((len(blocks_of_sums) * of, WORDS), np.int32)
    padded[: len(scales)] = scales
    return np.concatenate([blocks_of_sums, padded.reshape(len(blocks_of_sums), -1)], axis=1)
