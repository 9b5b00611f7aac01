"""The constants of kernels that multiply vectors of inputs with blocks of two channels."""

from __future__ import annotations

import numpy as np

CHANNELS = 2  # of a block
VECTOR = 16  # inputs
# Of a word that has a sum for inputs of 0 and a shift, and what is left for the sum.
_SHIFT_BITS = 6
START_BITS = 32 - _SHIFT_BITS


def depth(inputs: int, vector: int = VECTOR) -> int:
    """Returns `inputs`, those of a sum, rounded up to vectors of `vector` inputs."""
    return -(-inputs // vector) * vector


def blocks(channels: int) -> int:
    """Returns how many blocks hold `channels`."""
    return -(-channels // CHANNELS)


def block_words(inputs: int, vector: int = VECTOR, nibbles: bool = False) -> int:
    """Returns the size of a block in words; `nibbles`: of weights of 4 bits."""
    scales, per_word = (2, 8) if nibbles else (3, 4)
    return scales * CHANNELS + depth(inputs, vector) * CHANNELS // per_word


def table(
    weights: np.ndarray,
    starts: np.ndarray,
    multipliers: np.ndarray,
    shifts: np.ndarray,
    vector: int = VECTOR,
    nibbles: bool = False,
) -> np.ndarray:
    """Returns int32 [blocks, words] for weights [channels, inputs] of at least two channels. The last block has the
    last two. Each has the weights of the first vector and then of the others from the last to the second; the sums for
    inputs of 0, which are `starts`; what requantizes the channels, [channels] each. With `nibbles`, a byte has the
    weights of both channels for an input, that of the first in its lower half, and `joined` sums and shifts come before
    the multipliers."""
    channels, inputs = weights.shape
    vectors = depth(inputs, vector) // vector
    padded = np.zeros((channels, vectors, vector), np.int8)
    padded.reshape(channels, -1)[:, :inputs] = weights
    order = [0, *range(vectors - 1, 0, -1)]
    scales = np.stack([joined(starts, shifts), multipliers] if nibbles else [starts, multipliers, shifts])
    firsts = [min(first, channels - CHANNELS) for first in range(0, channels, CHANNELS)]
    members = np.array(firsts)[:, None] + np.arange(CHANNELS)  # [block, channel]
    products = padded[members][:, :, order].transpose(0, 2, 1, 3)  # [block, vector, channel, input]
    if nibbles:
        pairs = products.astype(np.uint8) & 0xF
        products = pairs[:, :, 0] | pairs[:, :, 1] << 4
    return np.concatenate(
        [
            np.ascontiguousarray(products).reshape(len(firsts), -1).view("<i4"),
            scales.astype(np.int32)[:, members].transpose(1, 0, 2).reshape(len(firsts), -1),
        ],
        axis=1,
    )


def joined(starts: np.ndarray, shifts: np.ndarray) -> np.ndarray:
    """Returns words with shifts in their lowest 6 bits and sums of at most START_BITS bits in the others."""
    return starts.astype(np.int64) << _SHIFT_BITS | shifts & (1 << _SHIFT_BITS) - 1


def why_not_joined(starts: np.ndarray) -> str:
    """Returns why `joined` has no room for a sum, "" if it has."""
    exceeded = (np.abs(starts) >= 1 << (START_BITS - 1)).any()
    return f"a sum for inputs of 0 exceeds {START_BITS} bits" if exceeded else ""
