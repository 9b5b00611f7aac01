from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.ops.loops import Loops, find_loops, row_major_strides, through

_AXES = st.lists(st.tuples(st.integers(1, 5), st.integers(-20, 20)), max_size=5)


@settings(max_examples=300, deadline=None)
@given(axes=_AXES, offset=st.integers(0, 9))
def test_finds_loops_in_whatever_loops_touch_and_no_more_than_there_were(axes, offset):
    loops = Loops(tuple(size for size, _ in axes), tuple(stride for _, stride in axes), offset)
    found = find_loops(loops.elements())
    assert found is not None
    assert np.array_equal(found.elements(), loops.elements())
    assert len(found.sizes) <= sum(size > 1 for size, _ in axes)


@settings(max_examples=200, deadline=None)
@given(elements=st.lists(st.integers(0, 3), min_size=1, max_size=12))
def test_what_it_finds_is_right(elements):
    found = find_loops(np.array(elements))
    assert found is None or found.elements().tolist() == elements


def test_no_loops():
    assert find_loops(np.array([0, 1, 3])) is None
    assert find_loops(np.array([2, 3, 0, 1, 2])) is None
    assert find_loops(np.array([0, 1, 1, 2, 2, 3, 5, 6])) is None


def test_all_elements_in_order_are_one_loop():
    assert find_loops(np.arange(24)) == through(24)
    assert through(24).is_all_in_order(24) and not through(24).is_all_in_order(25)
    assert find_loops(np.array([0])) == through(1) == Loops((), ())
    assert row_major_strides((2, 3, 4)) == (12, 4, 1)
