"""Regions are rebuilt from any properly nested sequence of markers."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.regions import Region, parse

# A tree of regions; each is a gap, the children, and another gap.
TREES = st.recursive(
    st.tuples(st.integers(0, 99), st.just([]), st.integers(0, 99)),
    lambda inner: st.tuples(st.integers(0, 99), st.lists(inner, max_size=3), st.integers(0, 99)),
    max_leaves=12,
)


def write(trees, count, lines):
    """Appends the lines of `trees` from instruction `count` on; returns the regions and the last count."""
    regions = []
    for before, children, after in trees:
        begin = count + before
        lines.append(f"begin {begin}")
        inner, count = write(children, begin, lines)
        count += after
        lines.append(f"end {count}")
        regions.append(Region(begin, count, inner))
    return regions, count


@given(st.lists(TREES, max_size=4))
def test_round_trip(trees):
    lines = []
    regions, total = write(trees, 0, lines)
    trace = parse("\n".join([*lines, f"total {total}"]))
    assert trace.regions == regions
    assert trace.total == total
    assert all(region.instructions == region.end - region.begin for region in trace.regions)


def test_cycles_are_differences_of_both_bounds():
    trace = parse("begin 10 20 30 5 5\nbegin 12 25 40 5 6\nend 15 29 50 8 16\nend 20 40 70 9 21\ntotal 30 60 90 9 21\n")
    (region,) = trace.regions
    assert (region.instructions, region.cycles, region.flash_waits) == (10, (20, 40), (4, 16))
    assert [(child.instructions, child.cycles, child.flash_waits) for child in region.children] == [
        (3, (4, 10), (3, 10))
    ]
    (region,) = parse("begin 1 2 3\nend 3 5 9\n").regions
    assert (region.cycles, region.flash_waits) == ((3, 6), None)
    without = parse("begin 1\nend 3\n").regions[0]
    assert without.cycles is None and without.flash_waits is None
    # A killed run.
    assert parse("begin 1 2 3 0 1\nend 3 5 9 0 4\nbegin 4 5").regions[0].flash_waits == (0, 3)


def test_unfinished_region_gives_its_children():
    trace = parse("begin 1\nbegin 2\nend 5\nbegin 7\n")
    assert trace.regions == [Region(2, 5)]
    assert trace.total is None


def test_cut_line_of_a_killed_run():
    assert parse("begin 1\nend 5\nbeg").regions == [Region(1, 5)]


def test_end_without_begin():
    with pytest.raises(ValueError, match="MARK_END without MARK_BEGIN after 3 instructions"):
        parse("end 3\n")
