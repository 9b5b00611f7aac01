"""Sums of int16 that fit 32 bits because of what comes before them."""

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cmsis_nn_delegate.graph.ir import Value
from cmsis_nn_delegate.graph.tensor_type import Element, Quant, TensorType
from cmsis_nn_delegate.ops.attrs import ConvAttrs, Padding
from cmsis_nn_delegate.ops.registry import OPS
from cmsis_nn_delegate.passes.narrow_sums import narrow_sums
from cmsis_nn_delegate.testing.drawing import Drawing, wiring

NONE = Padding()
STEPS = Quant((1.0,), 0)
LEAST, MOST = Element.INT16.low, Element.INT16.high
# Weights of 127 whose products with the largest activations just fit 32 bits.
COUNT = 2**31 // (127 * MOST)


def network(weights, bias, low=0, padding=NONE):
    """A clamp to at least `low`, and a layer of one output channel with the rows of `weights` as input channels."""
    d, attrs = Drawing(), ConvAttrs(padding=padding)
    x = d.input(1, len(weights), 1, 1, element=Element.INT16)
    x.retype(quant=STEPS)
    rows = np.array(weights, np.int8).reshape(1, len(weights), 1, -1)
    kernel = Value("weight", TensorType(Element.INT8, rows.shape, quant=Quant((1.0,), 0, 0)), rows)
    start = Value("bias", TensorType(Element.INT64, (1,)), np.array([bias], np.int64))
    shape = (1, 1, 1 + padding.top + padding.bottom, 1 + padding.left + padding.right)
    clamped = d.clamp(x, low, MOST)
    return d.returns(
        d.node("conv2d_wide", clamped, kernel, start, shape=shape, attrs=attrs, quant=Quant((2.0**17,), 0))
    )


def extremes(graph, low):
    """Images of the layer, from `low` on, for which the sum is the largest and the least."""
    weights = graph.nodes[1].inputs[1].constant.reshape(-1, 1, 1)
    images = [np.where(sign * weights > 0, MOST, low) for sign in (1, -1)]
    shape = graph.inputs[0].shape
    return [np.broadcast_to(image, shape[1:]).reshape(shape).astype(np.int16) for image in images]


def result(node, image):
    """int64, in logical order."""
    return OPS[node.op].reference(node, [image]).astype(np.int64).reshape(-1)


@given(
    st.integers(0, 2 * COUNT),
    st.integers(0, 2 * COUNT),
    st.sampled_from([LEAST, -1, 0, 9]),
    st.integers(-(2**32), 2**32),
)
@example(COUNT, 0, 0, 0)
@example(COUNT + 1, 0, 0, 0)
@example(COUNT, COUNT, 0, 0)
@example(COUNT, COUNT, LEAST, 0)
@example(COUNT, 0, 0, 2**24)
@example(1, 0, 0, 2**31)
def test_sums_are_narrow_exactly_where_the_extremes_fit(positive, negative, low, bias):
    graph = network([127] * positive + [-127] * negative or [0], bias, low)
    weights = graph.nodes[1].inputs[1].constant.reshape(-1).astype(np.int64)
    images = extremes(graph, low)
    sums = [int(image[0, :, 0, 0].astype(np.int64) @ weights) for image in images]
    # Of borders too, where there is nothing to add.
    fits = all(-(2**31) < sum_ + bias < 2**31 for sum_ in (max(sums[0], 0), min(sums[1], 0), 0))
    wide = [result(graph.nodes[1], image) for image in images]
    narrow_sums(graph)
    assert graph.nodes[1].op == ("conv2d" if fits else "conv2d_wide")
    if fits:
        assert graph.nodes[1].inputs[2].element is Element.INT32
        for image, before in zip(images, wide):  # with sums of 64 bits, multipliers are rounded to 16
            assert np.abs(result(graph.nodes[1], image) - before).max() <= 1


@pytest.mark.parametrize("bias, op", [(2**31 - 1 - 127 * MOST, "conv2d"), (2**31 - 127 * MOST, "conv2d_wide")])
def test_products_may_be_missing_at_borders(bias, op):
    """The negative products of inputs of at least 9 would make up for the larger bias, but padding has none."""
    graph = network([127, -127], bias, 9, Padding(1, 1, 1, 1))
    narrow_sums(graph)
    assert graph.nodes[1].op == op


@pytest.mark.parametrize("positive, op", [(COUNT, "fully_connected"), (2 * COUNT, "conv2d_wide")])
def test_a_linear_layer_is_one_again(positive, op):
    d = Drawing()
    x = d.input(3, positive, element=Element.INT16)
    x.retype(quant=STEPS)
    rows = np.full((1, positive, 1, 1), 127, np.int8)
    kernel = Value("weight", TensorType(Element.INT8, rows.shape, quant=Quant((1.0,), 0, 0)), rows)
    start = Value("bias", TensorType(Element.INT64, (1,)), np.array([5], np.int64))
    pixels = d.reshape(d.clamp(x, 0, MOST), 3, positive, 1, 1)
    y = d.node("conv2d_wide", pixels, kernel, start, shape=(3, 1, 1, 1), attrs=ConvAttrs(), quant=Quant((2.0**17,), 0))
    graph = d.returns(d.reshape(y, 3, 1))
    data = np.arange(3 * positive).reshape(3, positive).astype(np.int16)
    before = result(graph.nodes[2], data.reshape(3, positive, 1, 1))
    narrow_sums(graph)
    graph.verify()
    (layer,) = (node for node in graph.nodes if node.op not in ("clamp", "reshape"))
    assert layer.op == op
    assert np.abs(result(layer, data.reshape(layer.inputs[0].shape)) - before).max() <= 1


def test_what_has_no_bounds_stays():
    graph = network([127] * COUNT * 2, 0, LEAST)
    narrow_sums(graph)
    assert wiring(graph).endswith("conv2d_wide(v1) -> v2")
