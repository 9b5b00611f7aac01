"""Two weights of 4 bits in a byte: what a shift and a difference make of it are both, but not with -8."""

from __future__ import annotations

import numpy as np
import pytest

from cmsis_nn_delegate.format.element import Element
from cmsis_nn_delegate.ops.gru import Gru, GruAttrs
from cmsis_nn_delegate.ops.recurrent import Numbers, Sizes
from cmsis_nn_delegate.providers.tuned.recurrent_int4_vectors import LAYERS
from cmsis_nn_delegate.testing.random_case import RandomCase

KERNEL = next(layer for layer in LAYERS if layer.name == "gru_int4_vectors")


def test_a_byte_has_two_weights():
    numbers = np.arange(-7, 8, dtype=np.int8)
    weights = np.stack(np.meshgrid(numbers, numbers)).reshape(2, -1)
    table = KERNEL.table(np.concatenate([weights, weights]), np.array([5, -3, 0, 1]))
    assert table[0, :4].tolist() == [5 - 16 * 3, -3, 16, 1]
    both = np.ascontiguousarray(table[:, 4:]).view(np.int8).reshape(-1, 2, 16)[:, 0].reshape(-1)[: weights.shape[1]]
    second = (both.astype(int) + 8) >> 4
    assert np.array_equal(second, weights[1]) and np.array_equal(both - 16 * second, weights[0])


@pytest.mark.parametrize("which", [-4, -3])
def test_a_weight_of_minus_8_is_for_the_portable_kernel(which):
    d = RandomCase(1)
    quant = d.quant(2.0**-7, 3)
    d.graph(Gru.draw_layer(d, GruAttrs(), quant, Sizes(2, 1, 19, 11), numbers=Numbers(weights=Element.INT4)))
    (node,) = d.nodes
    assert KERNEL.why_not(node) == ""
    node.inputs[which].constant[10, 4] = -8
    assert "no room" in KERNEL.why_not(node)
