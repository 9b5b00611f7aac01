import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.planner import plan
from cmsis_nn_delegate.planner.interval import find_overlap
from cmsis_nn_delegate.planner.memory import IoPlacement, plan_memory
from cmsis_nn_delegate.planner.workspaces import plan_with_workspaces
from cmsis_nn_delegate.providers.implementation import Workspace
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder

ARENA = IoPlacement.ARENA


@pytest.fixture(autouse=True, scope="module")
def short_search():
    """Without a plan at the bound, the planner would search for seconds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(plan, "_BUDGET", 20_000)
        yield


def layers(*widths):
    """A chain of linear layers."""
    builder = GraphBuilder()
    value = builder.input(1, widths[0])
    for width in widths[1:]:
        value = builder.fully_connected(value, width)
    return builder.graph(value)


def apart(*sizes):
    return [Workspace(size) for size in sizes]


def test_a_call_at_the_peak_gets_as_much_as_others_leave():
    # The second call holds 160 bytes without scratch memory, the first 128.
    graph = layers(64, 64, 96)
    chosen, found = plan_with_workspaces(graph, [apart(0), apart(512, 64, 16)], ARENA)
    assert (chosen, found.arena_bytes) == ((Workspace(0), Workspace(16)), 176)
    chosen, found = plan_with_workspaces(graph, [apart(96), apart(512, 64, 16)], ARENA)
    assert (chosen, found.arena_bytes) == ((Workspace(96), Workspace(64)), 224)


def test_all_get_their_first_if_less_saves_nothing():
    chosen, found = plan_with_workspaces(layers(64, 64, 96), [apart(512), apart(64, 16)], ARENA)
    assert (chosen, found.arena_bytes) == ((Workspace(512), Workspace(64)), 640)


def test_less_scratch_memory_competes_with_an_output_over_its_input():
    graph = layers(16, 128, 128, 16)
    over = Workspace(96, 0)
    # Over its input the second call takes 128 bytes and its scratch memory, apart from it 256.
    chosen, found = plan_with_workspaces(graph, [apart(0), [over, Workspace(16)], apart(0)], ARENA)
    assert (chosen[1], found.arena_bytes) == (over, 224)
    # Where another call keeps that much anyway, outputs may lie apart.
    ways = [over, Workspace(16, 0)]
    chosen, found = plan_with_workspaces(graph, [apart(0), ways, apart(0)], ARENA)
    assert (chosen[1], found.arena_bytes) == (Workspace(16, 0), 144)


def test_the_last_call_may_have_nothing_in_the_arena():
    builder = GraphBuilder()
    graph = builder.graph(*(builder.fully_connected(builder.input(1, 16), 16) for _ in range(2)))
    chosen, found = plan_with_workspaces(graph, [apart(64, 16), apart(32, 0)], IoPlacement.CALLER)
    assert (chosen, found.arena_bytes) == ((Workspace(16), Workspace(0)), 16)


@settings(deadline=None, max_examples=60)
@given(st.data())
def test_no_call_is_slower_than_it_has_to_be(data):
    graph = layers(*data.draw(st.lists(st.integers(1, 20).map(lambda n: 16 * n), min_size=2, max_size=8)))
    sixteens = st.integers(0, 30).map(lambda n: 16 * n)
    distance = st.one_of(st.none(), st.integers(0, 200))
    options = []
    for _ in graph.nodes:
        sizes = sorted(data.draw(st.lists(sixteens, min_size=1, max_size=4, unique=True)), reverse=True)
        first = data.draw(distance)
        ways = [Workspace(size, first if data.draw(st.booleans()) else None) for size in sizes[1:]]
        options.append([Workspace(sizes[0], first), *ways])
    chosen, found = plan_with_workspaces(graph, options, ARENA)
    assert all(way in ways for way, ways in zip(chosen, options))
    assert find_overlap([b.interval for b in found.buffers], [b.offset for b in found.buffers]) is None
    over = {node.name for node, way in zip(graph.nodes, chosen) if way.distance is not None}
    assert set(found.in_place) <= over
    first = [ways[0] for ways in options]
    distances = {step: way.distance for step, way in enumerate(first) if way.distance is not None}
    fastest = plan_memory(graph, [way.scratch_bytes for way in first], ARENA, distances=distances)
    assert found.arena_bytes <= fastest.arena_bytes
    if found.arena_bytes == fastest.arena_bytes:
        assert list(chosen) == first


def test_values_that_move_leave_room_for_some_calls_alone():
    # Every second call moves the values by 32 bytes, from one side of scratch memory to the other: there is more room
    # in the end than in the middle.
    still, moving = [Workspace(96, 0), Workspace(64, 0)], [Workspace(0, 32)]
    graph = layers(*[256] * 6, 16)
    chosen, found = plan_with_workspaces(graph, [still, moving, still, moving, still, apart(0)], ARENA)
    assert found.arena_bytes == 256 + 32 + 64
    assert sorted(w.scratch_bytes for w in chosen[:5:2]) == [64, 64, 96]
