"""The distance is what the order of reads and writes asks for, and the algorithm is exact in integers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.graph.ir import Value
from cmsis_nn_delegate.ops.attrs import Padding
from cmsis_nn_delegate.ops.geometry import Geometry
from cmsis_nn_delegate.providers.tuned.conv2d_winograd import Conv2dWinograd
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder

KERNEL = Conv2dWinograd()
_B = np.array([[1, 0, -1, 0], [0, 1, 1, 0], [0, -1, 1, 0], [0, 1, 0, -1]])
_A = np.array([[1, 1, 1, 0], [0, 1, -1, -1]])


def convolution(batch=1, inputs=4, outputs=4, size=(6, 6), padding=Padding(), seed=0):
    builder = GraphBuilder(seed)
    return builder.graph(builder.conv2d(builder.input(batch, inputs, *size), outputs, padding=padding)).nodes[0]


def needed(geometry: Geometry, inputs: int, outputs: int) -> int:
    """Returns the distance, from the rows of the image that two rows of outputs read."""
    (height, width), (rows, columns) = geometry.input, geometry.output
    most = 0
    for image in range(geometry.batch):
        for y in range(0, rows, 2):
            read = [row for row in range(y - geometry.padding[0], y - geometry.padding[0] + 4) if 0 <= row < height]
            if read:
                written = (image * rows + min(y + 2, rows)) * columns * outputs
                most = max(most, written - (image * height + read[0]) * width * inputs)
    return most


@settings(deadline=None, max_examples=300)
@given(
    st.integers(1, 3),
    st.integers(1, 9),
    st.integers(1, 9),
    st.integers(3, 11),
    st.integers(3, 11),
    st.tuples(*[st.integers(0, 1)] * 4),
)
def test_nothing_is_read_after_it_has_been_overwritten(batch, inputs, outputs, height, width, padding):
    node = convolution(batch, inputs, outputs, (height, width), Padding(*padding))
    assert KERNEL.distance(node) >= needed(Geometry.plain(node), inputs, outputs)


@pytest.mark.parametrize("seed", range(4))
def test_products_of_the_table_are_four_times_the_convolution(seed):
    inputs, outputs = 5 + seed, 3 + seed
    node = convolution(inputs=inputs, outputs=outputs, size=(4, 4), seed=seed)
    table = KERNEL.constants(node)["table"]
    depth = 8
    pairs = np.ascontiguousarray(table[:, :-16]).view(np.int16).reshape(len(table), 16, depth // 4, 2, 4, 2)
    # [block, position, four inputs, parity, channel, pair] -> [channel, input, position]
    weights = pairs.transpose(0, 4, 2, 5, 3, 1).reshape(len(table) * 4, depth, 4, 4)[:outputs, :inputs].astype(np.int64)
    image = np.random.default_rng(seed).integers(-128, 128, (inputs, 4, 4))
    transformed = _B @ image @ _B.T
    assert np.abs(transformed).max() <= 512 and np.abs(weights).max() <= 9 * 128
    found = _A @ (weights * transformed).sum(1) @ _A.T
    filters = node.inputs[1].constant.astype(np.int64)
    windows = np.lib.stride_tricks.sliding_window_view(image, (3, 3), axis=(1, 2))
    assert (found == 4 * np.einsum("oikl,iyxkl->oyx", filters, windows)).all()


def test_sums_that_do_not_fit_four_times_are_refused():
    node = convolution()
    assert KERNEL.why_not(node) == ""
    bias = node.inputs[2]
    node.inputs[2] = Value(bias.name, bias.type, np.full_like(bias.constant, (1 << 29) + 1))
    assert KERNEL.why_not(node) == "four times a sum may exceed 32 bits"
