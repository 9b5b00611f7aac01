from unittest.mock import patch

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.planner import plan
from cmsis_nn_delegate.planner.interval import Interval, bundle_of, find_overlap, live_bytes, lower_bound
from cmsis_nn_delegate.planner.plan import _rule_orders, _Search, place

INTERVALS = st.lists(
    st.builds(
        lambda size, first, length: Interval(size, first, first + length),
        st.integers(0, 200),
        st.integers(0, 12),
        st.integers(0, 6),
    ),
    max_size=14,
)


RANGES = st.lists(
    st.tuples(
        st.integers(0, 100),
        st.builds(
            lambda size, first, length: Interval(size, first, first + length),
            st.integers(1, 100),
            st.integers(0, 12),
            st.integers(0, 6),
        ),
    ),
    min_size=1,
    max_size=5,
)


@settings(max_examples=200, deadline=None)
@given(RANGES, st.sampled_from([1, 4, 16]))
def test_a_bundle_takes_what_its_ranges_take(ranges, alignment):
    end = max(offset + buffer.size for offset, buffer in ranges)

    def alive(pieces, step):
        return {
            byte // alignment
            for at, piece in pieces
            if piece.meets(Interval(0, step, step))
            for byte in range(at, at + piece.size)
        }

    bundle = bundle_of(ranges, alignment)
    assert find_overlap([bundle], [0]) is None
    assert bundle.size == end
    assert all(offset % alignment == 0 for offset, _ in bundle.pieces)
    for step in range(20):
        assert alive(bundle.pieces, step) == alive(ranges, step)


@settings(max_examples=200, deadline=None)
@given(INTERVALS, st.lists(RANGES, max_size=4), st.sampled_from([1, 4, 16]))
def test_placements_of_bundles_are_valid(intervals, bundles, alignment):
    buffers = [*intervals, *(bundle_of(ranges, alignment) for ranges in bundles)]
    with patch.object(plan, "_BUDGET", 5_000):  # few of these reach the bound
        placement = place(buffers, alignment)
    assert find_overlap(buffers, placement.offsets) is None
    assert all(offset % alignment == 0 for offset in placement.offsets)
    assert placement.bound <= placement.peak


def test_a_buffer_lies_in_the_part_of_a_bundle_that_is_not_alive_yet():
    bundle = bundle_of([(0, Interval(32, 2, 2)), (32, Interval(32, 0, 2))], 16)
    placement = place([bundle, Interval(32, 0, 1)])
    assert placement.offsets == (0, 0)
    assert placement.peak == placement.bound == 64


@settings(max_examples=300, deadline=None)
@given(INTERVALS, st.sampled_from([1, 4, 16, 64]))
def test_placements_are_valid(intervals, alignment):
    placement = place(intervals, alignment)
    assert find_overlap(intervals, placement.offsets) is None
    assert all(offset % alignment == 0 for offset in placement.offsets)
    assert all(o + v.size <= placement.peak for o, v in zip(placement.offsets, intervals))
    assert placement.bound <= placement.peak
    assert placement.bound == lower_bound(intervals, alignment)
    assert placement == place(intervals, alignment)


@settings(max_examples=100, deadline=None)
@given(INTERVALS, st.lists(RANGES, max_size=3), st.randoms(use_true_random=False))
def test_a_move_gives_what_placing_everything_again_gives(intervals, bundles, generator):
    """And it is refused exactly where the peak rises."""
    search = _Search([*intervals, *(bundle_of(ranges, 4) for ranges in bundles)], 4)
    order = list(range(len(search.sizes)))
    generator.shuffle(order)
    offsets = search.place(order)
    peak = search.peak(offsets)
    for position, moved in enumerate(order):
        earlier = generator.randrange(position + 1)
        changed = [i for i in order if i != moved]
        changed.insert(earlier, moved)
        wanted = search.place(changed)
        found = search.place_again(offsets, changed, earlier, peak)
        assert found == (None if search.peak(wanted) > peak else (wanted, search.peak(wanted)))


@given(INTERVALS)
def test_bound_is_the_largest_sum_of_any_step(intervals):
    steps = range(max((v.last + 1 for v in intervals), default=0))
    sums = [sum(v.size for v in intervals if v.first <= step <= v.last) for step in steps]
    assert live_bytes(intervals, 1) == sums
    assert lower_bound(intervals, 1) == max(sums, default=0)


@pytest.mark.parametrize(
    "offsets, expected",
    [((0, 16), None), ((0, 8), (0, 1)), ((8, 0), (0, 1)), ((0, 0), (0, 1)), ((16, 0), None)],
)
def test_find_overlap_sees_shared_bytes(offsets, expected):
    assert find_overlap([Interval(16, 0, 1), Interval(16, 1, 2)], offsets) == expected


def test_find_overlap_allows_sharing_over_time():
    assert find_overlap([Interval(16, 0, 1), Interval(16, 2, 2)], (0, 0)) is None


def test_nothing_to_place():
    assert place([]).peak == 0


def test_chain_alternates_between_two_ends():
    # 0: input -> 1 -> 2 -> 3, each alive with its neighbour only.
    chain = [Interval(64, 0, 0), Interval(32, 0, 1), Interval(64, 1, 2), Interval(16, 2, 2)]
    placement = place(chain)
    assert placement.offsets == (0, 64, 0, 64)
    assert placement.peak == placement.bound == 96


def test_sizes_are_rounded_up_to_the_alignment():
    placement = place([Interval(1, 0, 0), Interval(17, 0, 0)])
    assert placement.offsets == (32, 0)
    assert placement.peak == placement.bound == 48


def test_first_gap_that_fits_is_used():
    # The long-lived buffers leave a hole of 32 bytes in step 1.
    placement = place([Interval(64, 0, 1), Interval(48, 0, 0), Interval(40, 0, 1), Interval(32, 1, 1)])
    assert placement.offsets[3] == 64
    assert placement.peak == placement.bound == 160


def test_search_reaches_the_bound_where_no_rule_does():
    # Found by random search: every rule's order leaves a gap here, another order has none.
    sizes = [
        *[(48, 1, 2), (80, 0, 2), (80, 0, 1), (64, 0, 2)],
        *[(80, 6, 6), (64, 2, 3), (64, 2, 2), (64, 4, 4)],
    ]
    intervals = [Interval(*fields) for fields in sizes]
    placement = place(intervals)
    assert find_overlap(intervals, placement.offsets) is None
    assert placement.gap == 0
    search = _Search(intervals, 16)
    assert all(search.peak(search.place(order)) > placement.bound for order in _rule_orders(intervals))


@pytest.mark.parametrize("fields", [(-1, 0, 0), (1, -1, 0), (1, 2, 1)])
def test_intervals_are_checked(fields):
    with pytest.raises(ValueError, match="not an interval"):
        Interval(*fields)
