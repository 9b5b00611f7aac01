"""Ranges, sizes, clamping and quantization of every element type."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmsis_nn_delegate.graph.tensor_type import Element, Layout, Quant, TensorType

SMALL = [Element.INT4, Element.INT8, Element.INT16]


@pytest.mark.parametrize(
    "element, bits, low, high", [("INT4", 4, -8, 7), ("INT8", 8, -128, 127), ("INT16", 16, -32768, 32767)]
)
def test_ranges(element, bits, low, high):
    element = Element[element]
    assert (element.bits, element.low, element.high) == (bits, low, high)


def test_a_float_has_no_range():
    with pytest.raises(ValueError, match="float32 has no least and greatest number"):
        _ = Element.FLOAT32.low


@pytest.mark.parametrize("element", Element)
@given(st.integers(0, 1000))
def test_size(element, count):
    assert element.nbytes(count) == math.ceil(count * element.bits / 8)
    data = np.zeros(count, element.numpy)
    assert len(TensorType(element, (count,)).to_bytes(data)) == element.nbytes(count)


@given(st.lists(st.integers(-8, 7)))
def test_four_bits_are_packed_two_to_a_byte(numbers):
    packed = TensorType(Element.INT4, (len(numbers),)).to_bytes(np.array(numbers, np.int8))
    halves = [half for byte in packed for half in (byte & 0xF, byte >> 4)]
    assert [half - 16 if half > 7 else half for half in halves[: len(numbers)]] == numbers
    assert all(half == 0 for half in halves[len(numbers) :])


@pytest.mark.parametrize("element", SMALL)
@given(st.lists(st.floats(width=32), max_size=20), st.floats(2.0**-10, 2.0**10), st.data())
def test_quantize(element, reals, scale, data):
    zero_point = data.draw(st.integers(element.low, element.high))
    tensor = TensorType(element, (len(reals),), quant=Quant((scale,), zero_point))
    got = tensor.quantize(np.array(reals, np.float32))
    assert got.dtype == element.numpy
    inverse = np.float32(1 / scale)
    for q, real in zip(got, reals):
        if math.isnan(real):
            assert q == zero_point
            continue
        with np.errstate(over="ignore"):
            step = float(np.rint(np.float32(real) * inverse))
        exact = step + zero_point if math.isfinite(step) else step
        assert q == min(max(exact, element.low), element.high)


@pytest.mark.parametrize("element", SMALL)
@given(st.floats(allow_nan=False), st.floats(2.0**-10, 2.0**10))
def test_step_is_the_nearest_element(element, real, scale):
    tensor = TensorType(element, (), quant=Quant((scale,), 1))
    step = tensor.step(real)
    assert element.low <= step <= element.high
    exact = real / scale + 1
    if element.low <= exact <= element.high:
        assert abs(step - exact) <= 0.5
    else:
        assert step == (element.high if exact > 0 else element.low)


def test_a_scale_per_channel_quantizes_nothing_as_a_whole():
    tensor = TensorType(Element.INT8, (2,), quant=Quant((1.0, 2.0), 0, 0))
    with pytest.raises(ValueError, match=r"int8\[2\] has no scale and zero point of its own"):
        tensor.quantize(np.zeros(2, np.float32))


def test_channels_last():
    assert TensorType(Element.INT8, (1, 2, 3, 4), Layout.CHANNELS_LAST).storage_shape == (1, 3, 4, 2)
