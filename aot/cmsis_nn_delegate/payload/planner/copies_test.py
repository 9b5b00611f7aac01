from hypothesis import given
from hypothesis import strategies as st

from cmsis_nn_delegate.payload.planner.copies import Copyable, choose_copies

constants = st.lists(st.builds(Copyable, st.integers(1, 300), st.integers(0, 5000)), max_size=12)


def taken(copyable):
    return -(-copyable.nbytes // 16) * 16


@given(constants, st.integers(0, 2000))
def test_copies_fit_and_nothing_is_left_out_for_what_is_read_less(constants, room):
    chosen = choose_copies(constants, room, 16)
    assert list(chosen) == sorted(set(chosen))
    total = sum(taken(constants[i]) for i in chosen)
    assert total <= room
    for i in set(range(len(constants))) - set(chosen):
        density = constants[i].reads / constants[i].nbytes
        better = [j for j in chosen if constants[j].reads / constants[j].nbytes >= density]
        assert sum(taken(constants[j]) for j in better) + taken(constants[i]) > room


def test_what_is_read_most_for_its_size_comes_first():
    dense, often, rest = Copyable(16, 1600), Copyable(64, 3200), Copyable(32, 32)
    assert choose_copies([rest, often, dense], 16, 16) == (2,)
    assert choose_copies([rest, often, dense], 64, 16) == (0, 2)  # `often` no longer fits
    assert choose_copies([rest, often, dense], 80, 16) == (1, 2)
    assert choose_copies([rest, often, dense], 112, 16) == (0, 1, 2)


def test_no_room_and_no_constants():
    assert choose_copies([Copyable(1, 1)], 15, 16) == choose_copies([], 100, 16) == ()
