"""The weights of two channels in 16 bits: their products are those of each channel, whatever wraps."""

from __future__ import annotations

import numpy as np
import pytest

from cmsis_nn_delegate.graph.tensor_type import Quant
from cmsis_nn_delegate.providers.tuned import pair_table
from cmsis_nn_delegate.providers.tuned.fully_connected_joint_pairs import CHANNELS
from cmsis_nn_delegate.testing.random_case import RandomCase


def layer(weights: np.ndarray, bias: list[int]):
    """Returns a linear layer with `weights`, [channels, inputs], whose inputs have the zero point 0."""
    d = RandomCase(0)
    d.fully_connected(d.input(1, weights.shape[1], quant=Quant((0.5,), 0)), len(weights))
    (node,) = d.nodes
    node.inputs[1].data = np.asarray(weights, np.int8)
    node.inputs[2].data = np.array(bias, np.int32)
    return node


def separated(table: np.ndarray, inputs: np.ndarray) -> np.ndarray:
    """Returns the sums of all channels of `table` as registers of 32 bits have them."""
    sums = np.ascontiguousarray(table[:, :CHANNELS]).astype(np.int64)
    # [block, word, parity, half, pair, channel] as in pair_table.rows, with 16 bits of two channels.
    halves = np.ascontiguousarray(table[:, CHANNELS:]).view("<i2").reshape(len(table), -1, 2, CHANNELS // 2, 2)
    pairs = (
        np.pad(inputs, (0, -len(inputs) % pair_table.DEPTH)).reshape(-1, 2, 2).swapaxes(1, 2)
    )  # [word, parity, pair]
    for half in range(CHANNELS // 2):
        joint = halves[:, :, :, half, :].astype(np.int64)
        first = joint.astype(np.int8).astype(np.int64)
        sums[:, 2 * half] += (first * pairs).sum((1, 2, 3))
        sums[:, 2 * half + 1] += (joint * pairs).sum((1, 2, 3))
    low, both = sums[:, ::2].astype(np.int32), sums[:, 1::2].astype(np.int32)
    high = (both.astype(np.int64) - low).astype(np.int32) >> pair_table.JOINT_BITS
    return np.stack([low, high], axis=2).reshape(-1)


@pytest.mark.parametrize("inputs", [1, 8, 250])
def test_sums_are_separated_again(inputs):
    random = np.random.default_rng(inputs)
    weights = random.integers(-128, 128, (10, inputs))
    weights[1::2] = np.where(weights[::2] < 0, np.maximum(weights[1::2], -127), weights[1::2])
    limit = (1 << 23) - 1 - 128 * int(np.abs(weights).sum(1).max())
    bias = [int(b) for b in random.choice([-limit, limit, 0], len(weights))]
    node = layer(weights, bias)
    assert not pair_table.why_not_joint(node, node.inputs[1].constant)
    table = pair_table.joint(pair_table.sums(node, node.inputs[1].constant, CHANNELS), CHANNELS)
    for x in (random.integers(-128, 128, inputs), np.full(inputs, -128), np.where(weights[1] > 0, 127, -128)):
        expected = weights @ x + np.array(bias)
        np.testing.assert_array_equal(separated(table, x)[: len(weights)], expected)


@pytest.mark.parametrize(
    "weights, bias, why",
    [
        ([[-1, 1], [-128, 1]], [0, 0], "channel 1 has a weight of -128 beside a negative one of the channel before"),
        ([[-128, 1], [0, 1], [1, 1]], [0, 0, 1 << 24], ""),  # a single last channel has no other beside it
        ([[0, 0], [-128, 1]], [1 << 24, 0], ""),
        ([[1, 1], [1, 1]], [0, (1 << 23) - 254], "a sum may exceed 23 bits"),
        ([[1, 1], [1, 1]], [0, (1 << 23) - 255], ""),
    ],
)
def test_channels_that_cannot_be_separated_are_refused(weights, bias, why):
    node = layer(np.array(weights), bias)
    assert pair_table.why_not_joint(node, node.inputs[1].constant) == why
