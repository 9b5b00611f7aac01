"""A product gives the reference's result for every sum that is possible."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.graph.ir import Node
from cmsis_nn_delegate.ops import per_channel_requantize
from cmsis_nn_delegate.ops.attrs import Clamp
from cmsis_nn_delegate.providers.tuned.product_requantization import FRACTION_BITS, LOW_BITS, Products, products
from cmsis_nn_delegate.testing.random_case import RandomCase

CHANNELS = 5


def node_of(seed: int, zero_point: int, clamp: Clamp, scale: float) -> Node:
    """Returns a convolution whose sums are scaled by about `scale`."""
    d = RandomCase(seed)
    d.conv2d(d.input(1, 6, 2, 2), CHANNELS, (1, 1), clamp=clamp)
    (node,) = d.nodes
    weight = node.inputs[1]
    factors = d.random.uniform(0.5, 1.0, CHANNELS) * scale * node.output.scale / node.inputs[0].scale
    weight.retype(quant=replace(weight.quant, scale=tuple(map(float, factors))))
    node.output.retype(quant=d.quant(node.output.scale, zero_point))
    return node


def sums_of(least: np.ndarray, most: np.ndarray, seed: int) -> np.ndarray:
    """Returns sums of each channel, int64 [sums, channels]: all, or many of them in stretches of neighbours."""
    widest = int((most - least).max())
    if widest <= 1 << 14:
        offsets = np.arange(widest + 1)[:, None]
    else:
        starts = np.random.default_rng(seed).integers(0, widest, (300, 1, 1))
        offsets = (starts + np.arange(40)[:, None]).reshape(-1, 1)
    middle = np.clip(least + offsets, least, most)
    return np.concatenate([middle, [least, most]]).astype(np.int64)


def in_32_bits(found: Products, sums: np.ndarray) -> np.ndarray:
    """What cores without long products compute."""
    d = np.clip(sums - found.first, 0, found.span)
    low = d * (found.factor % (1 << LOW_BITS))
    assert (low < 1 << 32).all()
    value = d * (found.factor >> LOW_BITS) + (low >> LOW_BITS) + found.constant
    return (value % (1 << 32) >> FRACTION_BITS - LOW_BITS).astype(np.uint8).astype(np.int8)


def in_64_bits(found: Products, sums: np.ndarray) -> np.ndarray:
    """What others compute where the clamp is that of int8: they limit the result instead of the sum."""
    value = (sums - found.first) * found.factor + (found.constant << LOW_BITS) >> FRACTION_BITS
    return np.clip(value, -128, 127)


def wanted(node: Node, sums: np.ndarray) -> np.ndarray:
    return per_channel_requantize.finish(node, sums, np.zeros(CHANNELS, np.int64))


@settings(deadline=None, max_examples=200)
@given(
    st.integers(0, 10**6),
    st.one_of(st.just(-128), st.integers(-128, 127)),
    st.sampled_from([Clamp(0.0), Clamp(), Clamp(0.0, 6.0), Clamp(-1.0, 1.0)]),
    st.floats(-18, -1),
    st.tuples(st.floats(-1, 1), st.floats(4, 20)),
)
def test_equals_the_reference(seed, zero_point, clamp, scale, sums):
    node = node_of(seed, zero_point, clamp, 2.0**scale)
    (middle, bits) = sums
    spread = np.random.default_rng(seed).integers(1, 2**bits, CHANNELS)
    least = (middle * 2**bits - spread).astype(np.int64)
    most = least + 2 * spread
    found = products(node, least, most)
    drawn = sums_of(least, most, seed)
    right = wanted(node, drawn)
    unlimited = not node.attrs.clamp.limits(node.output.type)
    for channel in np.flatnonzero(found.exact):
        computed = [in_32_bits(found, drawn)] + ([in_64_bits(found, drawn)] if unlimited else [])
        for values in computed:
            assert (values[:, channel] == right[:, channel]).all()


@pytest.mark.parametrize("clamp", [Clamp(0.0), Clamp()])
def test_products_are_exact_where_networks_need_them(clamp):
    """Scales and sums as those of the depthwise convolutions of MLPerf Tiny."""
    for seed in range(20):
        node = node_of(seed, -128, clamp, 2.0**-6.5)
        assert products(node, np.full(CHANNELS, -150_000), np.full(CHANNELS, 150_000)).exact.all()


def test_steps_too_wide_for_32_bits_of_fraction_are_seen():
    node = node_of(0, -128, Clamp(0.0), 2.0**-20)
    assert not products(node, np.full(CHANNELS, -(1 << 28)), np.full(CHANNELS, 1 << 28)).exact.any()


def test_results_on_both_sides_of_zero_take_another_form():
    """The reference rounds halves away from zero, which moves the steps below zero by more than a sum."""
    node = node_of(0, 0, Clamp(), 2.0**-7)
    assert not products(node, np.full(CHANNELS, -30_000), np.full(CHANNELS, 30_000)).exact.any()
    assert products(node, np.full(CHANNELS, 0), np.full(CHANNELS, 30_000)).exact.all()


def test_a_wrong_factor_is_seen():
    node = node_of(0, -128, Clamp(), 2.0**-7)
    least, most = np.full(CHANNELS, -30_000), np.full(CHANNELS, 30_000)
    found = products(node, least, most)
    wrong = found._replace(factor=found.factor + (1 << 12))
    drawn = sums_of(least, most, 0)
    assert (in_32_bits(found, drawn) == wanted(node, drawn)).all()
    assert (in_32_bits(wrong, drawn) != wanted(node, drawn)).any()
