"""The forms of requantization to int16 equal the reference for every sum of 32 bits."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.format.element import Element
from cmsis_nn_delegate.graph.ir import Node
from cmsis_nn_delegate.ops import per_channel_requantize
from cmsis_nn_delegate.ops.attrs import Clamp
from cmsis_nn_delegate.ops.quantized_math import INT32_MAX, INT32_MIN
from cmsis_nn_delegate.providers.tuned import requantization, requantization_int16
from cmsis_nn_delegate.providers.tuned.requantization import Form
from cmsis_nn_delegate.testing.random_case import RandomCase


def computed(form: Form, table: np.ndarray, sums: np.ndarray, clamp: tuple[int, int]) -> np.ndarray:
    """Returns what the instructions make of `sums`, int64 [..., channels]."""
    shift, multiplier, correction = table.astype(np.int64).T
    negative = sums < 0 if form is Form.ANY else np.zeros(1, bool)
    low = np.where(negative, 0xC0000000, 0x40000000)
    total = sums * multiplier + ((correction - negative) << 32) + low
    high = total >> 32
    assert (high == high.astype(np.int32)).all(), "a scaled sum does not fit"
    shifted = high >> shift
    return np.clip(shifted, 0, 32767) if form is Form.FLOOR else np.clip(np.clip(shifted, -32768, 32767), *clamp)


def node_of(seed: int, clamp: Clamp, factor: float) -> Node:
    d = RandomCase(seed)
    d.conv2d(d.input(1, 6, 2, 2, element=Element.INT16), 5, (1, 1), clamp=clamp)
    (node,) = d.nodes
    weight = node.inputs[1]
    weight.retype(quant=replace(weight.quant, scale=tuple(s * factor for s in weight.quant.scale)))
    return node


@settings(deadline=None, max_examples=200)
@given(
    st.integers(0, 10**6),
    st.sampled_from([Clamp(0.0), Clamp(), Clamp(0.0, 6.0), Clamp(-1.0, 1.0)]),
    st.floats(-25, 6),
)
def test_equals_the_reference(seed, clamp, exponent):
    node = node_of(seed, clamp, 2.0**exponent)
    if requantization_int16.why_none(node):
        return
    multiplier, shift = (x.astype(np.float64) for x in per_channel_requantize.output_multipliers(node))
    step = 2.0 ** (31 - shift) / np.maximum(multiplier, 1)  # of the output, in sums
    random = np.random.default_rng(seed)
    ends = np.array([INT32_MIN, INT32_MIN + 1, INT32_MAX, -1, 0, 1])[:, None] + np.zeros(len(shift))
    anywhere = random.integers(INT32_MIN, INT32_MAX, (2000, len(shift)), endpoint=True)
    ties = np.floor((random.integers(-300, 300, (4000, 1)) + 0.5) * step) + random.integers(-1, 3, (4000, 1))
    sums = np.clip(np.concatenate([ends, anywhere, ties]), INT32_MIN, INT32_MAX).astype(np.int64)
    limits = node.attrs.clamp.quantized(node.output.type)
    found = computed(requantization_int16.form(node), requantization_int16.table(node), sums, limits)
    wanted = per_channel_requantize.finish(node, sums, np.zeros(len(shift), np.int64))
    assert (found == wanted).all()


def computed_fine(table: np.ndarray, sums: np.ndarray, clamp: tuple[int, int]) -> np.ndarray:
    """The same for the form FINE."""
    shifts, multiplier, half = table.astype(np.int64).T
    left, sign, right = shifts & 0xFF, shifts >> 8 & 0xFF, shifts >> 16
    shifted = sums << left
    assert (shifted == shifted.astype(np.int32)).all(), "a sum does not fit"
    scaled = ((shifted * multiplier + (1 << 31)) >> 32) + half
    assert (scaled == scaled.astype(np.int32)).all(), "a scaled sum does not fit"
    rounded = (scaled - ((shifted & 0xFFFFFFFF) >> sign)) >> right
    return np.clip(np.clip(rounded, -32768, 32767), *clamp)


@settings(deadline=None, max_examples=200)
@given(
    st.integers(0, 10**6),
    st.sampled_from([Clamp(0.0), Clamp(), Clamp(0.0, 6.0), Clamp(-1.0, 1.0)]),
    st.floats(-16, 12),
)
def test_fine_equals_the_reference_for_sums_that_it_takes(seed, clamp, exponent):
    node = node_of(seed, clamp, 2.0**exponent)
    if requantization_int16.why_not_fine(node):
        return
    multiplier, shift = (x.astype(np.float64) for x in per_channel_requantize.output_multipliers(node))
    weight, bias = (value.constant.astype(np.int64) for value in node.inputs[1:])
    most = requantization.largest_sums(node, weight.astype(np.int8), bias)
    step = 2.0 ** (31 - shift) / np.maximum(multiplier, 1)
    random = np.random.default_rng(seed)
    ends = np.array([-1, 1])[:, None] * most
    near = np.array([-1, 0, 1])[:, None] + np.zeros(len(shift))
    anywhere = random.integers(-most, most, (2000, len(shift)), endpoint=True)
    ties = np.floor((random.integers(-300, 300, (4000, 1)) + 0.5) * step) + random.integers(-1, 3, (4000, 1))
    sums = np.clip(np.concatenate([ends, near, anywhere, ties]), -most, most).astype(np.int64)
    limits = node.attrs.clamp.quantized(node.output.type)
    found = computed_fine(requantization_int16.fine_table(node), sums, limits)
    assert (found == per_channel_requantize.finish(node, sums, np.zeros(len(shift), np.int64))).all()


def test_fine_refuses_sums_that_leave_no_room_for_the_shift():
    node = node_of(3, Clamp(), 1.0)
    _, shift = per_channel_requantize.output_multipliers(node)
    finer = node_of(3, Clamp(), 2.0 ** (2 - int(shift.min())))
    assert requantization_int16.why_none(finer) and not requantization_int16.why_not_fine(finer)
    assert "exceed 31 bits" in requantization_int16.why_not_fine(node_of(3, Clamp(), 2.0 ** (13 - int(shift.min()))))
    assert "scaled down" in requantization_int16.why_not_fine(node_of(3, Clamp(), 2.0 ** (-23 - int(shift.max()))))


def test_takes_no_finer_steps():
    """From a shift of 1 on, half a step of the second rounding is no whole number in the upper word."""
    node = node_of(3, Clamp(), 1.0)
    _, shift = per_channel_requantize.output_multipliers(node)
    nearest = int(shift.max())
    assert not requantization_int16.why_none(node_of(3, Clamp(), 2.0 ** (-2 - nearest)))
    assert "finer steps" in requantization_int16.why_none(node_of(3, Clamp(), 2.0 ** (-1 - nearest)))


@pytest.mark.parametrize("clamp, form", [(Clamp(0.0), Form.FLOOR), (Clamp(), Form.ANY), (Clamp(0.0, 1e-9), Form.ANY)])
def test_floor_is_for_a_relu(clamp, form):
    assert requantization_int16.form(node_of(3, clamp, 1.0)) is form


def test_packed_is_the_table_without_the_correction():
    node = node_of(5, Clamp(), 2.0**-9)
    shift, _, correction = requantization_int16.table(node).T
    assert (requantization_int16.packed(node) == requantization_int16.table(node)[:, :2]).all()
    assert (correction == 1 << (shift - 1)).all()
