from hypothesis import given
from hypothesis import strategies as st

from cmsis_nn_delegate.planner.copies import Copyable, bytes_of, choose_copies

constants = st.lists(
    st.builds(Copyable, st.integers(1, 300), st.integers(0, 5000), st.sampled_from([0, 5, 64])), max_size=12
)


@given(constants, st.integers(0, 2000))
def test_copies_fit_and_nothing_is_left_out_for_what_is_read_less(constants, room):
    chosen = choose_copies(constants, room, 16)
    assert list(chosen) == sorted(set(chosen))
    assert bytes_of([constants[i] for i in chosen], 16) <= room
    for i in set(range(len(constants))) - set(chosen):
        density = constants[i].reads / constants[i].nbytes
        better = [j for j in chosen if constants[j].reads / constants[j].nbytes >= density]
        assert bytes_of([constants[j] for j in sorted([*better, i])], 16) > room


def test_what_is_read_most_for_its_size_comes_first():
    dense, often, rest = Copyable(16, 1600), Copyable(64, 3200), Copyable(32, 32)
    assert choose_copies([rest, often, dense], 16, 16) == (2,)
    assert choose_copies([rest, often, dense], 64, 16) == (0, 2)  # `often` no longer fits
    assert choose_copies([rest, often, dense], 80, 16) == (1, 2)
    assert choose_copies([rest, often, dense], 112, 16) == (0, 1, 2)


def test_what_is_loaded_past_the_end_may_be_the_next_constant():
    assert bytes_of([Copyable(16, 1, 64), Copyable(64, 1)], 16) == 80
    assert bytes_of([Copyable(64, 1), Copyable(16, 1, 64)], 16) == 144
    assert bytes_of([], 16) == 0


def test_no_room_and_no_constants():
    assert choose_copies([Copyable(1, 1)], 15, 16) == choose_copies([], 100, 16) == ()
