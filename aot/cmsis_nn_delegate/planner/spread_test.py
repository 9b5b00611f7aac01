from unittest.mock import patch

from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.planner import plan
from cmsis_nn_delegate.planner.interval import Interval, bundle_of, find_overlap, lower_bound
from cmsis_nn_delegate.planner.plan import place
from cmsis_nn_delegate.planner.spread import spread

INTERVALS = st.builds(
    lambda size, first, length: Interval(size, first, first + length),
    st.integers(1, 200),
    st.integers(0, 10),
    st.integers(0, 6),
)
BUNDLES = st.lists(st.tuples(st.integers(0, 100), INTERVALS), min_size=2, max_size=4).map(
    lambda ranges: bundle_of(ranges, 16)
)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.tuples(st.one_of(INTERVALS, BUNDLES), st.integers(0, 1000), st.booleans()), max_size=12),
    st.lists(st.integers(1, 500), min_size=1, max_size=4),
)
def test_every_buffer_lies_apart_from_the_others_of_its_memory(found, sizes):
    buffers, touched, keep = ([row[i] for row in found] for i in range(3))
    # The first memory may hold fewer than the others.
    kept = {index for index, wanted in enumerate(keep) if wanted}
    may = set(range(len(buffers))) - kept
    allowed = [{index for index in may if index % 3}] + [may] * len(sizes)
    with patch.object(plan, "_BUDGET", 5_000):  # few of these reach the bound
        fillings = spread(buffers, touched, allowed[: len(sizes) - 1], sizes, 16)
        whole = place(buffers, 16)
    assert sorted(index for filling in fillings for index in filling.buffers) == list(range(len(buffers)))
    assert kept <= set(fillings[-1].buffers)
    assert all(set(filling.buffers) <= may for filling, may in zip(fillings[:-1], allowed))
    for filling, size in zip(fillings, sizes):
        inside = [buffers[index] for index in filling.buffers]
        assert find_overlap(inside, filling.offsets) is None
        assert all(offset % 16 == 0 for offset in filling.offsets)
        end = max((offset + buffer.size for offset, buffer in zip(filling.offsets, inside)), default=0)
        assert filling.nbytes == -(-end // 16) * 16
        assert filling.bound == lower_bound(inside, 16) <= filling.nbytes
        assert filling.touched == sum(touched[index] for index in filling.buffers)
        assert filling is fillings[-1] or filling.nbytes <= size
    if len(sizes) == 1:
        assert (fillings[0].offsets, fillings[0].bound) == (whole.offsets, whole.bound)


def test_what_is_touched_the_most_for_its_size_is_in_the_fastest_memory():
    cold, warm, hot = Interval(64, 0, 5), Interval(64, 0, 5), Interval(32, 0, 5)
    fillings = spread([cold, warm, hot], [64, 256, 256], [{0, 1, 2}] * 2, [32, 64, 1000], 16)
    assert [filling.buffers for filling in fillings] == [(2,), (1,), (0,)]
    assert [filling.nbytes for filling in fillings] == [32, 64, 64]


def test_buffers_take_turns_in_a_fast_memory():
    buffers = [Interval(64, step, step) for step in range(4)]
    fast, slow = spread(buffers, [1] * 4, [{0, 1, 2, 3}], [64, 1000], 16)
    assert fast.buffers == (0, 1, 2, 3) and fast.offsets == (0, 0, 0, 0)
    assert slow.nbytes == 0


def test_the_order_is_another_where_the_last_memory_would_be_too_small():
    # By bytes touched for each of their bytes, the small ones would fill the fast memory.
    buffers = [Interval(96, 0, 0), Interval(16, 0, 0), Interval(16, 0, 0)]
    fast, slow = spread(buffers, [96, 64, 64], [{0, 1, 2}], [96, 32], 16)
    assert fast.buffers == (0,) and slow.nbytes == 32
    fast, slow = spread(buffers, [96, 64, 64], [{0, 1, 2}], [96, 96], 16)
    assert fast.buffers == (1, 2) and slow.nbytes == 96
