"""The loops over two operands that are broadcast."""

import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.format.schema import MAX_RANK
from cmsis_nn_delegate.graph.tensor_type import Layout
from cmsis_nn_delegate.ops import broadcast
from cmsis_nn_delegate.ops.extremum import ExtremumAttrs
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder

EXAMPLES = settings(max_examples=100, deadline=None)


@st.composite
def operands(draw):
    """Two shapes that fit together."""
    output = draw(st.lists(st.integers(1, 4), max_size=MAX_RANK))
    shapes = []
    for _ in range(2):
        shape = [n if draw(st.booleans()) else 1 for n in output]
        shapes.append(tuple(shape[draw(st.integers(0, len(shape))) :]))
    return tuple(shapes)


def walked(loops):
    """The elements of both operands that nested loops visit, each operand's in the order of its memory."""
    visited = []
    for which in (0, 1):
        sizes = [loop[which] for loop in loops]
        index = np.arange(math.prod(sizes)).reshape(sizes)
        visited.append(np.broadcast_to(index, [loop.output for loop in loops]).reshape(-1))
    return visited


@EXAMPLES
@given(operands(), st.sampled_from(Layout))
def test_loops_visit_the_elements_that_numpy_does(shapes, layout):
    rank = max(map(len, shapes))
    if rank != 4:
        layout = Layout.ROW_MAJOR
    order = (0, 2, 3, 1) if layout is Layout.CHANNELS_LAST else tuple(range(rank))
    found = broadcast.shapes_of(*shapes, layout)
    if found is None:
        assert math.prod(shapes[0]) == math.prod(shapes[1])
        return
    assert found == tuple(tuple(broadcast.aligned(shape, rank)[dim] for dim in order) for shape in shapes)
    indices = [np.arange(math.prod(shape)).reshape(shape) for shape in found]
    loops = broadcast.loops(found)
    for got, want in zip(walked(loops), np.broadcast_arrays(*indices)):
        np.testing.assert_array_equal(got, want.reshape(-1))
    # Neighbours that could be one loop are one.
    repeated = [(loop.first < loop.output, loop.second < loop.output) for loop in loops]
    assert all(a != b for a, b in itertools.pairwise(repeated))


@pytest.mark.parametrize(
    "second, loops",
    [
        ((1, 5, 1, 1), [(24, 1, 24), (5, 5, 5)]),
        ((2, 5, 1, 1), [(2, 2, 2), (12, 1, 12), (5, 5, 5)]),
        ((2, 1, 4, 3), [(24, 24, 24), (5, 1, 5)]),
        ((1, 1, 4, 3), [(2, 1, 2), (12, 12, 12), (5, 1, 5)]),
        ((1, 5, 4, 3), [(2, 1, 2), (60, 60, 60)]),
    ],
)
def test_loops_over_an_image(second, loops):
    assert broadcast.loops(broadcast.shapes_of((2, 5, 4, 3), second, Layout.CHANNELS_LAST)) == loops


@pytest.mark.parametrize(
    "shape, sizes",
    [((2, 6, 7), (1, 1, 1, 84)), ((2, 256, 3, 256), (1, 1, 1, 6 * 256**2)), ((9, 9, 9, 9, 9), (1, 1, 1, 9**5))],
)
def test_operands_that_are_not_repeated_are_one_loop(shape, sizes):
    d = GraphBuilder()
    quant = d.quant(0.1)
    d.node("extremum", [d.input(*shape, quant=quant) for _ in range(2)], ExtremumAttrs(largest=True), quant)
    assert [tuple(dims.values()) for dims in broadcast.dims(d.nodes[0]).values()] == [sizes] * 3


def test_operands_that_need_too_many_loops():
    d = GraphBuilder()
    shapes = ((2, 1, 2, 1, 2), (1, 2, 1, 2, 1))
    d.add(*(d.input(*shape) for shape in shapes), shapes=shapes)
    with pytest.raises(ValueError, match="need 5 nested loops"):
        broadcast.dims(d.nodes[0])
