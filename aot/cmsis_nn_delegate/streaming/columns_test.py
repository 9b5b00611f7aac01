"""`Columns` against what each column of random stacks of convolutions depends on, followed one by one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from hypothesis import given
from hypothesis import strategies as st

from cmsis_nn_delegate.streaming.columns import Columns, common, read_by_window, runs

WINDOW = 40
PADDING = -1


class Layer(NamedTuple):
    kernel: int
    stride: int
    padding: int
    dilation: int


LAYERS = st.lists(
    st.builds(Layer, st.integers(1, 4), st.integers(1, 3), st.integers(-2, 3), st.integers(1, 2)),
    min_size=1,
    max_size=4,
)


def followed(layers: Sequence[Layer]) -> tuple[Columns, list[set[int]]]:
    """Returns the columns behind `layers`, and the columns of the input that each of them depends on."""
    columns, depends = Columns(0, WINDOW, 1, 0, WINDOW), [{j} for j in range(WINDOW)]
    for k, s, p, d in layers:
        count = (len(depends) + 2 * p - (k - 1) * d - 1) // s + 1
        if count < 1:
            break
        read = [[j * s - p + i * d for i in range(k)] for j in range(count)]
        columns = read_by_window(columns, k, s, p, d, count)
        depends = [set().union(*(depends[i] if 0 <= i < len(depends) else {PADDING} for i in row)) for row in read]
    return columns, depends


@given(LAYERS)
def test_moving_columns_are_those_without_padding(layers):
    columns, depends = followed(layers)
    assert columns.count == len(depends)
    assert list(columns.moving) == [j for j, inputs in enumerate(depends) if PADDING not in inputs]


@given(LAYERS)
def test_moving_columns_depend_on_inputs_that_are_a_step_apart(layers):
    columns, depends = followed(layers)
    for before, after in zip(columns.moving, columns.moving[1:]):
        assert {i + columns.step for i in depends[before]} == depends[after]


@given(LAYERS, st.integers(1, 6))
def test_each_moving_column_is_the_newest_of_one_window(layers, hop):
    """Or of one after the other, if windows move by less than a column."""
    columns, _ = followed(layers)
    if columns.interval(hop) is None or not columns.moving:
        return
    offset = min(columns.step, hop) if columns.interval(hop) == 1 else columns.step
    newest = columns.newest(hop)
    assert newest.stop == columns.end
    if len(newest) == hop // columns.step:
        moved = {j * columns.step for j in newest}
        earlier = {j * columns.step - hop for j in newest}
        assert not moved & earlier and max(earlier) + columns.step == min(moved)
    else:
        assert len(newest) == 1 or newest == columns.moving
    assert offset >= 1


@given(st.sets(st.integers(0, 30)))
def test_runs_are_the_numbers_and_as_few_as_can_be(numbers):
    found = list(runs(numbers))
    assert [i for run in found for i in run] == sorted(numbers)
    assert all(a.stop < b.start for a, b in zip(found, found[1:]))


def test_what_several_tensors_share_moves_if_it_does_in_all():
    both = common([Columns(2, 9, 1, 1, 9), Columns(2, 9, 1, 0, 7)])
    assert both == Columns(2, 9, 1, 1, 7)
    assert not common([Columns(2, 9, 1, 0, 3), Columns(2, 9, 1, 5, 9)]).moving
