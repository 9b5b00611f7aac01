from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmsis_nn_delegate.byte_counts import byte_count
from cmsis_nn_delegate.errors import UserError
from cmsis_nn_delegate.ops.registry import calls
from cmsis_nn_delegate.payload.choose_kernels import choose_kernels, legalize
from cmsis_nn_delegate.payload.encode import plan
from cmsis_nn_delegate.payload.options import PayloadOptions
from cmsis_nn_delegate.payload.planner.memories import Memory, check_memories, list_text
from cmsis_nn_delegate.payload.planner.memory import Kept
from cmsis_nn_delegate.target import get_target
from cmsis_nn_delegate.testing import networks


@pytest.mark.parametrize(
    ("text", "nbytes"), [("dtcm=64K", 65536), ("a=100", 100), ("SRAM_2=1M", 1 << 20), ("x=268435455", 2**28 - 1)]
)
def test_memories_are_read_from_text(text, nbytes):
    memory = Memory.of(text)
    assert memory == Memory(text.split("=")[0], nbytes) == Memory.of(str(memory))
    assert Memory.list_of(f"{text};b=1K") == [memory, Memory("b", 1024)]
    assert Memory.list_of("") == []


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("dtcm", "write NAME=SIZE"),
        ("dtcm=64G", "write NAME=SIZE"),
        ("dtcm=-1", "write NAME=SIZE"),
        ("dtcm=0", "has 0 bytes; give 1 to 268,435,455"),
        ("dtcm=256M", "has 268435456 bytes"),
        ("=1K", "take letters, digits"),
        ("my ram=1K", "take letters, digits"),
        ("arena=1K", "neither arena nor persistent"),
        ("dtcm=1K:", "dtcm is for nothing, which is none of activations, scratch, state, weights"),
        ("dtcm=1K:weights,code", "dtcm is for 'code', which is none of activations, scratch, state, weights"),
        ("dtcm=1K:weights:scratch", "write NAME=SIZE or NAME=SIZE:KINDS"),
    ],
)
def test_other_texts_are_refused(text, message):
    with pytest.raises(ValueError, match=message):
        Memory.of(text)


@pytest.mark.parametrize(
    ("text", "holds"),
    [
        ("a=1K:weights", ("weights",)),
        ("a=1K:weights,activations", ("activations", "weights")),
        ("a=1K:state,scratch,activations,weights", ("activations", "scratch", "state", "weights")),
    ],
)
def test_memories_hold_kinds_of_data(text, holds):
    memory = Memory.of(text)
    assert memory.holds == holds and Memory.of(str(memory)) == memory
    assert Memory.of("a=1K") == Memory.of("a=1K:scratch,activations")
    assert Memory.list_of(list_text([memory, Memory("b", 16)])) == [memory, Memory("b", 16)]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (("a=1", "b=1", "a=2"), "several memories are called a;"),
        (("a=1K", "b=1K:scratch"), "b is the slowest memory for scratch and so has to hold activations too"),
        (("a=1K:activations", "b=1K:weights"), "a is the slowest memory for activations and so has to hold scratch"),
        (("a=1K:state", "b=1K", "c=1K:weights"), "a and c hold states or weights; only one memory can"),
    ],
)
def test_memories_that_do_not_go_together_are_refused(texts, message):
    with pytest.raises(ValueError, match=message):
        check_memories([Memory.of(text) for text in texts])


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


@given(st.integers(1, 255), st.sampled_from(["k", "K", "m", "M", ""]))
def test_sizes_have_units(count, unit):
    nbytes = count * {"": 1, "k": 2**10, "m": 2**20}[unit.lower()]
    assert byte_count(f"{count}{unit}") == nbytes
    assert Memory.of(f"dtcm={count}{unit}:scratch") == Memory("dtcm", nbytes, ("scratch",))


@pytest.mark.parametrize("text", ["", "k", "-1", "1.5K", "1 K", "1KB", "1G", "²", "1\n"])
def test_what_is_no_size(text):
    with pytest.raises(ValueError, match="is no number of bytes"):
        byte_count(text)


def test_more_memories_than_a_payload_refers_to():
    with pytest.raises(ValueError, match="^31 memories are given; a payload can use at most 12$"):
        check_memories([Memory(f"m{i}", 64) for i in range(31)])
