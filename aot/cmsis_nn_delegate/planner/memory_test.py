import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.format.record import Role
from cmsis_nn_delegate.ops import storage
from cmsis_nn_delegate.ops.join import JoinAttrs
from cmsis_nn_delegate.ops.loops import Loops
from cmsis_nn_delegate.ops.registry import OPS, calls
from cmsis_nn_delegate.passes.row_bands import chains, split_into_bands
from cmsis_nn_delegate.planner import plan as placing
from cmsis_nn_delegate.planner.homes import Home, find_homes
from cmsis_nn_delegate.planner.interval import Interval, find_overlap
from cmsis_nn_delegate.planner.memories import spread_plan
from cmsis_nn_delegate.planner.memory import IoPlacement, plan_memory
from cmsis_nn_delegate.selection.choose_kernels import choose_kernels, legalize
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.targets.memory import Memory
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing import networks
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder

ARENA, CALLER = IoPlacement.ARENA, IoPlacement.CALLER


def scratch(graph, target="cortex-m55"):
    """Returns the scratch memory that CMSIS-NN's kernels take, or portable ones in their place."""
    legal = legalize(graph, PayloadOptions.of(providers=("cmsis-nn", "portable")))
    return [choice.scratch_bytes for choice in choose_kernels(legal, get_target(target)).choices]


def offsets(plan):
    return {buffer.name: buffer.offset for buffer in plan.buffers}


def run_in_arena(graph, plan, scratch_bytes, inputs):
    """What a device does: every value at its planned offset of its region, scratch filled with garbage."""
    regions = [np.zeros(nbytes, np.uint8) for nbytes in (plan.arena_bytes, *plan.region_bytes)]

    def memory(value):
        if value.is_constant:  # in the payload
            return storage.to_storage(value.constant, value).view(np.uint8).ravel()
        offset = plan.offset_of(value)
        found = regions[plan.region_of(value)][offset : offset + value.nbytes]
        assert found.size == value.nbytes, "reaches out of its region"
        return found

    for value, data in zip(graph.inputs, inputs):
        memory(value)[:] = storage.to_storage(data, value).view(np.uint8).ravel()
    for step, node in enumerate(calls(graph)):
        op = OPS[node.op]
        operands = [
            memory(v).view(v.element.numpy).reshape(v.storage_shape).copy()
            for v in op.operands(node, Role.INPUT).values()
        ]
        offset = plan.scratch_offset(step)
        if offset is not None:
            assert offset % 16 == 0
            found = regions[plan.scratch_region(step)][offset : offset + scratch_bytes[step]]
            assert found.size == scratch_bytes[step], "reaches out of its region"
            found[:] = 0xA5
        for value, operand in zip(node.inputs, operands):
            now = memory(value).view(value.element.numpy).reshape(value.storage_shape)
            assert np.array_equal(now, operand), "scratch lies over an operand"
        result = op.reference(node, operands)
        result = np.ascontiguousarray(result).view(np.uint8).ravel()
        if node.op == "strided_copy":  # leaves the rest as it is
            written = Loops(node.attrs.sizes, node.attrs.output_strides, node.attrs.output_offset).elements()
            memory(node.output)[written] = result[written]
        else:
            memory(node.output)[:] = result
    return [storage.from_storage(memory(v).view(v.element.numpy), v) for v in graph.outputs]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(["cortex-m3", "cortex-m4", "cortex-m55"]), st.booleans())
def test_networks_compute_the_same_in_the_arena(seed, target, in_place):
    graph = networks.random_network(seed)
    choices = choose_kernels(legalize(graph), get_target(target)).choices
    sizes = [choice.scratch_bytes for choice in choices]
    distances = {step: c.workspace.distance for step, c in enumerate(choices) if c.workspace.distance is not None}
    plan = plan_memory(graph, sizes, ARENA, in_place, distances)
    assert find_overlap([b.interval for b in plan.buffers], [b.offset for b in plan.buffers]) is None
    inputs = networks.random_inputs(graph, seed)
    got = run_in_arena(graph, plan, sizes, inputs)
    for a, b in zip(got, reference.run(graph, inputs)):
        assert np.array_equal(a, b)


@settings(max_examples=60, deadline=None)
@given(
    st.integers(0, 2**32),
    st.sampled_from(["cortex-m3", "cortex-m4", "cortex-m55"]),
    st.booleans(),
    st.lists(st.integers(1, 4096), max_size=3),
)
def test_networks_compute_the_same_in_several_memories(seed, target, in_place, fast):
    graph = networks.random_network(seed)
    choices = choose_kernels(legalize(graph), get_target(target)).choices
    sizes = [choice.scratch_bytes for choice in choices]
    distances = {step: c.workspace.distance for step, c in enumerate(choices) if c.workspace.distance is not None}
    memories = [*(Memory(f"fast{i}", size) for i, size in enumerate(fast)), Memory("slow", 1 << 24)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(placing, "_BUDGET", 20_000)  # any plan will do
        plan = spread_plan(graph, plan_memory(graph, sizes, ARENA, in_place, distances), memories)
    for region in range(len(memories)):
        inside = [b for b in plan.buffers if b.region == region]
        assert find_overlap([b.interval for b in inside], [b.offset for b in inside]) is None
        assert plan.memories[region].nbytes <= plan.memories[region].limit
    inputs = networks.random_inputs(graph, seed)
    got = run_in_arena(graph, plan, sizes, inputs)
    for a, b in zip(got, reference.run(graph, inputs)):
        assert np.array_equal(a, b)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), st.sampled_from(["cortex-m3", "cortex-m4", "cortex-m55"]), st.data())
def test_bands_compute_the_same_in_the_arena(seed, target, data):
    graph = networks.random_convolutions(seed)
    found = list(chains(graph, 3))
    if not found:
        return
    chain = data.draw(st.sampled_from(found))
    try:
        split = split_into_bands(graph, chain, data.draw(st.integers(1, chain[-1].output.shape[2])))
    except ValueError:
        return  # a band would be computed from padding alone
    choices = choose_kernels(legalize(split), get_target(target)).choices
    sizes = [choice.scratch_bytes for choice in choices]
    distances = {step: c.workspace.distance for step, c in enumerate(choices) if c.workspace.distance is not None}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(placing, "_BUDGET", 20_000)  # any plan will do
        plan = plan_memory(split, sizes, ARENA, data.draw(st.sampled_from([None, True])), distances)
    inputs = networks.random_inputs(graph, seed)
    got = run_in_arena(split, plan, sizes, inputs)
    for a, b in zip(got, reference.run(graph, inputs)):
        assert np.array_equal(a, b)


def test_what_has_parts_lies_over_an_input_and_below_an_output():
    builder = GraphBuilder()
    x = builder.conv2d(builder.input(1, 2, 16, 16), 8, (1, 1))
    first = builder.conv2d(x, 8, (1, 1))
    last = builder.conv2d(builder.conv2d(first, 16, (1, 1)), 8, (1, 1))
    graph = builder.graph(builder.softmax(builder.conv2d(last, 8, (1, 1))))
    chain = next(c for c in chains(graph, 2) if c[0].inputs[0] is first)
    split = split_into_bands(graph, chain, 4)
    steps = {node.name: step for step, node in enumerate(calls(split))}
    over = [graph.producer(first).name, graph.consumers(last)[0].name]
    plan = plan_memory(split, [0] * len(steps), CALLER, True, {steps[name]: 0 for name in over})
    assert set(over) <= set(plan.in_place)
    assert plan.offset_of(first) == plan.offset_of(x)


@pytest.mark.parametrize(
    "network, target, arena_bytes",
    [
        (networks.ds_cnn, "cortex-m4", 16_000),
        (networks.ds_cnn, "cortex-m55", 20_464),
        (networks.resnet8, "cortex-m4", 49_728),
        (networks.resnet8, "cortex-m55", 49_728),
        (networks.mobilenet_v1_025, "cortex-m4", 55_296),
        (networks.mobilenet_v1_025, "cortex-m55", 55_296),
        (networks.autoencoder, "cortex-m4", 768),
        (networks.autoencoder, "cortex-m55", 768),
    ],
)
def test_mlperf_tiny_arenas(network, target, arena_bytes):
    graph = network()
    plan = plan_memory(graph, scratch(graph, target), ARENA)
    assert (plan.arena_bytes, plan.gap) == (arena_bytes, 0)


def chain():
    builder = GraphBuilder()
    x = builder.input(1, 64)
    return builder.graph(builder.fully_connected(builder.fully_connected(x, 32), 16))


def test_io_in_the_arena():
    plan = plan_memory(chain(), [0, 0], ARENA)
    # x is dead when the output is written, but v0 is alive with both.
    assert offsets(plan) == {"x0": 0, "v0": 64, "v1": 0}
    assert plan.live == (96, 48)
    assert plan.arena_bytes == 96


def test_io_with_the_caller():
    graph = chain()
    plan = plan_memory(graph, [0, 0], CALLER)
    assert offsets(plan) == {"v0": 0}
    assert plan.offset_of(graph.inputs[0]) is None
    assert plan.arena_bytes == 32


def test_an_unread_input_keeps_its_place_while_inputs_are_written():
    builder = GraphBuilder()
    builder.input(1, 16)
    graph = builder.graph(builder.fully_connected(builder.input(1, 16), 16))
    assert plan_memory(graph, [0], ARENA).arena_bytes == 48


def test_outputs_live_to_the_end():
    builder = GraphBuilder()
    x = builder.input(1, 16)
    early = builder.fully_connected(x, 16)
    late = builder.fully_connected(builder.fully_connected(early, 16), 16)
    graph = builder.graph(early, late)
    plan = plan_memory(graph, [0, 0, 0], ARENA)
    assert plan.arena_bytes == 48
    assert plan.offset_of(early) != plan.offset_of(late)


def residual(read_again: bool):
    builder = GraphBuilder()
    x = builder.input(1, 16)
    a, b = builder.fully_connected(x, 256), builder.fully_connected(x, 256)
    total = builder.add(a, b)
    if read_again:
        total = builder.add(builder.add(total, a), b)
    return builder.graph(builder.fully_connected(total, 8))


def test_add_overwrites_a_dying_input_if_that_saves_memory():
    graph = residual(read_again=False)
    plan = plan_memory(graph, [0] * len(graph.nodes), ARENA)
    assert plan.in_place == ("add_2",)
    assert plan.offset_of(graph.nodes[2].output) == plan.offset_of(graph.nodes[0].output)
    assert plan.arena_bytes == 512 + 16
    assert plan_memory(graph, [0] * 4, ARENA, in_place=False).arena_bytes == 768


def test_add_does_not_overwrite_what_is_read_again():
    graph = residual(read_again=True)
    plan = plan_memory(graph, [0] * len(graph.nodes), ARENA, in_place=True)
    assert "add_2" not in plan.in_place
    assert {"add_3", "add_4"} <= set(plan.in_place)


def joined(d, *values):
    """The vectors `values` side by side."""
    value = d.concat(values, 1)
    d.nodes[-1].op, d.nodes[-1].attrs = "join", JoinAttrs(1, tuple(v.numel for v in values))
    return value


def test_parts_are_computed_inside_of_the_whole():
    builder = GraphBuilder()
    x = builder.input(1, 16)
    parts = [builder.fully_connected(x, 5), builder.fully_connected(x, 20)]
    whole = joined(builder, *parts)
    graph = builder.graph(builder.fully_connected(whole, 8))
    plan = plan_memory(graph, [0, 0, 0], CALLER)
    # The join is no step, and the parts have no buffers of their own: theirs grows.
    (buffer,) = plan.buffers
    assert buffer.interval.pieces == ((0, Interval(16, 0, 0)), (0, Interval(25, 1, 2)))
    assert [plan.offset_of(value) for value in (*parts, whole)] == [0, 5, 0]
    assert plan.homes == (Home(parts[0], whole, 0), Home(parts[1], whole, 5))


def test_a_whole_grows_with_its_parts_and_leaves_those_that_are_read_later():
    builder = GraphBuilder()
    x = builder.input(1, 16)
    parts = [builder.fully_connected(x, 16), builder.fully_connected(x, 16)]
    inner = joined(builder, *parts)
    outer = joined(builder, builder.fully_connected(inner, 16), inner)
    first = builder.fully_connected(outer, 16)
    graph = builder.graph(builder.fully_connected(builder.add(first, first), 3), builder.fully_connected(parts[1], 3))
    plan = plan_memory(graph, [0] * 7, CALLER)
    assert [plan.offset_of(value) - plan.offset_of(outer) for value in (*parts, inner, outer)] == [16, 32, 16, 0]
    assert plan.buffers[0].interval.pieces == (
        (0, Interval(48, 2, 3)),
        (16, Interval(16, 0, 0)),
        (16, Interval(32, 1, 1)),
        (32, Interval(16, 4, 6)),
    )
    assert plan.live[:5] == (16, 32, 48, 64, 48)


def test_parts_of_an_output_lie_with_the_caller():
    builder = GraphBuilder()
    part = builder.fully_connected(builder.input(1, 16), 8)
    whole = joined(builder, part, builder.fully_connected(part, 4))
    plan = plan_memory(builder.graph(whole), [0, 0], CALLER)
    assert plan.buffers == () and plan.offset_of(part) is None
    assert plan.home_of(part) == Home(part, whole, 0)


def test_what_lies_in_a_whole_is_not_overwritten():
    builder = GraphBuilder()
    x = builder.input(1, 16)
    a, b = builder.fully_connected(x, 16), builder.fully_connected(x, 16)
    total = builder.add(a, a)  # `a` is not read again, but its place is part of what follows
    graph = builder.graph(builder.fully_connected(joined(builder, a, b), 4), builder.fully_connected(total, 4))
    assert plan_memory(graph, [0] * 5, ARENA, in_place=True).in_place == ()


def test_values_with_memory_of_their_own_have_no_other():
    builder = GraphBuilder()
    a = builder.fully_connected(builder.input(1, 16), 8)
    with pytest.raises(ValueError, match="x0 has memory of its own"):
        find_homes(builder.graph(joined(builder, builder.inputs[0], a)))
    builder.nodes.pop()
    with pytest.raises(ValueError, match="v0 has memory of its own"):
        find_homes(builder.graph(joined(builder, a, a)))
    whole = builder.nodes[-1].output
    whole.retype(shape=(1, 7))
    builder.nodes[-1].inputs = [a]
    with pytest.raises(ValueError, match="v0 reaches out of v1"):
        find_homes(builder.graph(whole))


def test_placement_names():
    assert IoPlacement.of("arena") is ARENA
    with pytest.raises(ValueError, match="choose one of arena, caller"):
        IoPlacement.of("flash")


def test_an_output_starts_before_the_input_that_it_overwrites():
    builder = GraphBuilder()
    x = builder.input(1, 64)
    graph = builder.graph(builder.softmax(builder.fully_connected(builder.softmax(x), 128)))
    plan = plan_memory(graph, [0, 0, 0], CALLER, distances={1: 40})
    wide, narrow = graph.nodes[1].output, graph.nodes[1].inputs[0]
    assert plan.offset_of(narrow) - plan.offset_of(wide) == 48  # 40, aligned
    assert plan.in_place == (graph.nodes[1].name,)
    assert (plan.arena_bytes, plan.gap) == (128, 0)
    # Without, both are there at once.
    assert plan_memory(graph, [0, 0, 0], CALLER).arena_bytes == 192


def test_an_overlay_that_needs_more_room_is_left_out():
    builder = GraphBuilder()
    x = builder.input(1, 512)
    first = builder.fully_connected(x, 16)
    second = builder.fully_connected(first, 16)
    graph = builder.graph(builder.softmax(second))
    # 16 bytes that start 400 before others take as much room as 416.
    plan = plan_memory(graph, [0, 0, 0], CALLER, distances={1: 400})
    assert plan.in_place == () and plan.arena_bytes == 32


def test_inputs_are_overwritten_only_in_the_arena():
    builder = GraphBuilder()
    graph = builder.graph(builder.fully_connected(builder.fully_connected(builder.input(1, 64), 64), 8))
    assert plan_memory(graph, [0, 0], ARENA, distances={0: 16}).in_place == (graph.nodes[0].name,)
    assert plan_memory(graph, [0, 0], CALLER, distances={0: 16}).in_place == ()
