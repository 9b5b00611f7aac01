from dataclasses import replace

import pytest

from cmsis_nn_delegate.ops.registry import calls
from cmsis_nn_delegate.planner.memory import Kept
from cmsis_nn_delegate.selection.choose_kernels import choose_kernels, legalize
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.selection.planned import plan
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.targets.memory import Memory
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing import networks


def planned(chosen, *memories):
    return plan(replace(chosen, options=PayloadOptions(memories=memories)))


def test_kinds_of_data_lie_where_they_may(chosen):
    def kinds(memory, region):
        return {bool(buffer.values) for buffer in memory.buffers if buffer.region == region}

    for holds, in_region in (
        (("scratch",), {False}),
        (("activations",), {True}),
        (("activations", "scratch"), {False, True}),
    ):
        memory = planned(chosen, Memory("fast", 12 << 10, holds), Memory("ram", 1 << 20)).memory
        assert kinds(memory, 1) == in_region


def test_what_the_backend_keeps_leaves_less_for_activations(chosen):
    alone = plan(chosen).memory.arena_bytes
    texts = [f"ram={alone + 16 + 1000}:activations,scratch,weights"]
    memory = planned(chosen, *map(Memory.of, texts)).memory
    assert memory.kept == Kept("ram", alone + 1016, 16, 1000)
    with pytest.raises(UserError, match=f"ram would take {alone:,} bytes, 16 more than its {alone - 16:,}"):
        planned(chosen, Memory.of(f"ram={alone}:activations,scratch,weights"))
    # A memory for weights alone is none of the plan's.
    memory = planned(chosen, Memory.of("tcm=4K:weights")).memory
    assert (memory.memories, memory.arena_bytes, memory.kept) == ((), alone, Kept("tcm", 4096, 16, 4080))


@pytest.fixture(scope="module")
def chosen():
    return choose_kernels(legalize(networks.ds_cnn()), get_target("cortex-m4"))


def test_one_memory_is_the_arena(chosen):
    alone, described = plan(chosen).memory, planned(chosen, Memory("ram", 1 << 20)).memory
    assert described.buffers == alone.buffers and described.live == alone.live
    assert (described.arena_bytes, described.bound, described.region_bytes) == (alone.arena_bytes, alone.bound, ())
    (ram,) = described.memories
    assert (ram.nbytes, ram.bound, ram.excess) == (alone.arena_bytes, alone.bound, 0)


def test_scratch_memory_and_what_is_touched_most_leave_the_arena(chosen):
    graph = chosen.graph
    memory = planned(chosen, Memory("dtcm", 8 << 10), Memory("sram", 64 << 10)).memory
    sram, dtcm = memory.memories
    assert (sram.name, dtcm.name) == ("sram", "dtcm") and 0 < dtcm.nbytes <= dtcm.limit
    assert memory.region_bytes == (dtcm.nbytes,)
    for value in (*graph.inputs, *graph.outputs):
        assert memory.region_of(value) == 0
    # Each call reads its inputs, writes its output, and does both with its scratch memory.
    touched = sum(v.nbytes for n in calls(graph) for v in (*n.inputs, *n.outputs) if memory.offset_of(v) is not None)
    steps = range(len(calls(graph)))
    scratch = sum(2 * memory.buffers[i].interval.size for i in map(memory.buffer_of_scratch, steps) if i is not None)
    assert sram.touched + dtcm.touched == touched + scratch


def test_a_chain_over_the_input_is_broken_where_that_is_faster():
    graph = networks.ds_cnn()
    chosen = choose_kernels(legalize(graph), get_target("cortex-m4"))
    alone = plan(chosen).memory
    assert alone.buffers[0].name.startswith(f"{graph.inputs[0].name}=")  # so that all of it would be in the arena
    sram, dtcm = planned(chosen, Memory("dtcm", 9000), Memory("sram", 64 << 10)).memory.memories
    assert sram.nbytes == 496 and dtcm.nbytes == alone.arena_bytes == 8896
    # There is no other way if the last memory has the room.
    sram, dtcm = planned(chosen, Memory("dtcm", 1024), Memory("sram", 8000)).memory.memories
    assert (sram.nbytes, dtcm.nbytes) == (8000, 896)
