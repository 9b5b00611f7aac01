"""The cheap forms of requantization equal the reference for every sum that they may get."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.graph.ir import Node
from cmsis_nn_delegate.ops import per_channel_requantize
from cmsis_nn_delegate.ops.attrs import Clamp
from cmsis_nn_delegate.providers.tuned import requantization
from cmsis_nn_delegate.providers.tuned.requantization import FLOOR_BITS, Form
from cmsis_nn_delegate.testing.random_case import RandomCase


def computed(form: Form, table: np.ndarray, sums: np.ndarray, clamp: tuple[int, int]) -> np.ndarray:
    """Returns what the instructions make of `sums`, int64 [..., channels]; all registers have 32 bits."""
    shift, multiplier, correction = table.astype(np.int64).T
    if form is Form.FLOOR:
        shifted = (sums << shift).astype(np.int32).astype(np.int64)
        assert (shifted == sums << shift).all(), "a shifted sum does not fit"
        high = (shifted * multiplier + (correction << 32)) >> 32
        return np.clip(high.astype(np.int32) >> FLOOR_BITS, -128, 127)
    doubled = (2 * sums).astype(np.int32).astype(np.int64)
    high = ((doubled * multiplier + (correction << 32) + (1 << 31)) >> 32) + (doubled >> 31)
    assert (high == high.astype(np.int32)).all(), "a scaled sum does not fit"
    return np.clip(np.clip(high >> shift, -128, 127), *clamp)


def node_of(seed: int, zero_point: int, clamp: Clamp, factor: float) -> Node:
    d = RandomCase(seed)
    d.conv2d(d.input(1, 6, 2, 2), 5, (1, 1), clamp=clamp)
    (node,) = d.nodes
    weight = node.inputs[1]
    weight.retype(quant=replace(weight.quant, scale=tuple(s * factor for s in weight.quant.scale)))
    node.output.retype(quant=d.quant(node.output.scale, zero_point))
    return node


def thresholds(requantized: Callable[[np.ndarray], np.ndarray], largest: np.ndarray) -> np.ndarray:
    """Returns for each int8 but the least, and each channel, the least sum in [-largest, largest] that gives at least
    that, largest + 1 where none does; int64 [255, channels].

    Larger sums give larger results in all forms, so that two of the same thresholds are equal for all sums.
    """
    wanted = np.arange(-127, 128)[:, None]
    low, high = np.broadcast_to(-largest, (255, len(largest))), np.broadcast_to(largest + 1, (255, len(largest)))
    while (low < high).any():
        middle = (low + high) >> 1
        enough = requantized(np.minimum(middle, largest)) >= wanted
        low, high = np.where(enough, low, np.minimum(middle + 1, high)), np.where(enough, middle, high)
    return low


@settings(deadline=None, max_examples=200)
@given(
    st.integers(0, 10**6),
    st.one_of(st.just(-128), st.integers(-128, 127)),
    st.sampled_from([Clamp(0.0), Clamp(), Clamp(0.0, 6.0), Clamp(-1.0, 1.0)]),
    st.floats(-14, 6),
    st.floats(4, 31),
)
def test_equals_the_reference(seed, zero_point, clamp, factor, bits):
    node = node_of(seed, zero_point, clamp, 2.0**factor)
    largest = np.full(5, int(2.0**bits) - 1, np.int64)
    try:
        form = requantization.form_of(node, largest)
    except ValueError:
        return
    limits = node.attrs.clamp.quantized(node.output.type)
    table = requantization.table(node, form)
    wanted = thresholds(lambda sums: per_channel_requantize.finish(node, sums, np.zeros(5, np.int64)), largest)
    found = thresholds(lambda sums: computed(form, table, sums, limits), largest)
    assert (found == wanted).all(), (form, wanted[(found != wanted).any(1)][:3])
    ends = np.array([-largest, -0 * largest, largest])
    assert (np.diff(computed(form, table, ends, limits).astype(int), axis=0) >= 0).all()


def test_both_forms_are_used():
    relu = node_of(0, -128, Clamp(0.0), 1.0)
    assert requantization.form_of(relu, np.full(5, 1 << 12)) is Form.FLOOR
    # The clamp ends above the least int8, so results below zero must be rounded as the reference does.
    assert requantization.form_of(node_of(0, -127, Clamp(0.0), 1.0), np.full(5, 1 << 12)) is Form.ANY
    assert requantization.form_of(relu, np.full(5, (1 << 30) - 1)) is Form.ANY


def test_each_channel_can_have_its_own_form():
    relu = node_of(0, -128, Clamp(0.0), 1.0)
    forms = requantization.forms_of(relu, np.array([1 << 12, (1 << 30) - 1, 5, 1 << 29, 1 << 12]))
    assert forms.tolist() == [Form.FLOOR, Form.ANY, Form.FLOOR, Form.ANY, Form.FLOOR]
    mixed = requantization.table(relu, forms)
    for channel, form in enumerate(forms):
        assert (mixed[channel] == requantization.table(relu, Form(form))[channel]).all()


def test_one_channel_without_a_form_is_enough_to_refuse():
    relu = node_of(0, -128, Clamp(0.0), 1.0)
    with pytest.raises(ValueError, match="31 bits"):
        requantization.forms_of(relu, np.array([5, 5, 1 << 30, 5, 5]))


@pytest.mark.parametrize(
    "largest, factor, why",
    [(1 << 31, 1.0, "32 bits"), (1 << 30, 1.0, "31 bits"), (100, 2.0**14, "finer steps"), (100, 2.0**-23, "2^22")],
)
def test_why_there_is_no_form(largest, factor, why):
    with pytest.raises(ValueError, match=why.replace("^", r"\^")):
        requantization.form_of(node_of(0, 3, Clamp(), factor), np.full(5, largest))


def test_the_largest_sums_are_reached():
    node = node_of(1, 0, Clamp(), 1.0)
    x, weight, bias = node.inputs
    flat = weight.constant.reshape(5, -1).astype(np.int64)
    largest = requantization.largest_sums(node, flat, bias.constant.astype(np.int64))
    extremes = [np.where(flat > 0, high, low) for high, low in ((127, -128), (-128, 127))]
    sums = [(flat * (inputs - x.zero_point)).sum(1) + bias.constant for inputs in extremes]
    assert (largest == np.abs(sums).max(0)).all()


@settings(deadline=None, max_examples=100)
@given(
    st.integers(0, 10**6),
    st.one_of(st.just(-128), st.integers(-128, 127)),
    st.floats(-14, 6),
    st.floats(4, 31),
)
def test_packed_words_and_shifts_give_the_table(seed, zero_point, factor, bits):
    """Kernels compute the corrections: row_products.h from packed words, channel_planes.h from shifts alone."""
    node = node_of(seed, zero_point, Clamp(0.0) if zero_point == -128 else Clamp(), 2.0**factor)
    try:
        form = requantization.form_of(node, np.full(5, int(2.0**bits) - 1, np.int64))
    except ValueError:
        return
    table, packed = requantization.table(node, form), requantization.packed(node, form)
    shifts, corrections = packed[:, 0] & 0xFF, packed[:, 0] >> 8
    if form is Form.ANY:
        corrections = corrections << (shifts - 1)
    assert (np.stack([shifts, packed[:, 1], corrections], axis=1) == table).all()
    if form is Form.FLOOR:
        first = np.where(shifts > requantization.FLOOR_BITS, 0, 1 << (shifts - 2))
        assert (first + (1 << 11) - (128 << requantization.FLOOR_BITS) == table[:, 2]).all()
