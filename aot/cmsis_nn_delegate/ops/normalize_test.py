"""Normalization in integers, next to the same in floating point."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.graph.tensor_type import Element
from cmsis_nn_delegate.ops.normalize import FRACTION_BITS, NormalizeAttrs, epsilon_of, inverse_root
from cmsis_nn_delegate.ops.registry import OPS
from cmsis_nn_delegate.testing.networks import random_inputs
from cmsis_nn_delegate.testing.random_case import RandomCase

NORMALIZE = OPS["normalize"]


def in_floats(node, data):
    """The real result, quantized, of the logical array `data`."""
    attrs, source = node.attrs, node.inputs[0]
    x = (data.astype(np.float64) - source.zero_point) * source.scale
    groups = x.reshape(-1, attrs.size)
    mean = groups.mean(1, keepdims=True) if attrs.centered else 0.0
    deviation = np.sqrt(((groups - mean) ** 2).mean(1, keepdims=True) + attrs.epsilon)
    z = (groups - mean) / np.where(deviation == 0, 1, deviation)
    shape = (-1, attrs.size) if attrs.groups is None else (source.shape[0], source.shape[1], -1)
    z = z.reshape(shape)
    parameters = [value.constant.reshape((-1,) if attrs.groups is None else (-1, 1)) for value in node.inputs[1:]]
    if attrs.has_weight:
        z = z * parameters.pop(0)
    if attrs.has_bias:
        z = z + parameters.pop(0)
    lo, hi = attrs.clamp.quantized(node.output.type)
    return np.clip(z.reshape(source.shape) / node.output.scale + node.output.zero_point, lo, hi)


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6))
def test_results_are_rounded_once(seed):
    d = RandomCase(seed)
    graph = d.graph(NORMALIZE.draws[seed % len(NORMALIZE.draws)](d))
    inputs = random_inputs(graph, seed)
    (result,) = reference.run(graph, inputs)
    distance = np.abs(result - in_floats(graph.nodes[0], inputs[0]))
    assert distance.max() <= 0.5 + 2.0 ** {Element.INT8: -10, Element.INT16: -6}[graph.outputs[0].element]


def test_a_constant_group_gives_the_bias():
    d = RandomCase(3)
    graph = d.graph(NORMALIZE.draws[0](d))
    data = np.full(graph.inputs[0].shape, 77, np.int8)
    (result,) = reference.run(graph, [data])
    if graph.nodes[0].attrs.centered:
        assert (result == np.broadcast_to(result.reshape(-1, result.shape[-1])[0], result.shape)).all()
    assert np.abs(result - in_floats(graph.nodes[0], data)).max() <= 0.51


@given(st.integers(0, 2**56), st.floats(0, 1), st.integers(1, 2**20), st.floats(2**-14, 100))
def test_the_root_has_thirty_bits(variance, epsilon, size, scale):
    variance %= size * size * 65025 + 1
    fixed, half_shift = epsilon_of(NormalizeAttrs(None, size, epsilon), scale)
    real = variance + size * size * epsilon / scale**2
    if real < 1e3:
        return  # few bits: the rounding of epsilon shows
    inverse, shift = inverse_root(variance, fixed, half_shift)
    assert inverse * 2.0**-shift == pytest.approx(2.0**FRACTION_BITS / np.sqrt(real), rel=2.0**-20)
