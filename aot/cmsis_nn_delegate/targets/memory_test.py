import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmsis_nn_delegate.support.byte_counts import byte_count
from cmsis_nn_delegate.targets.memory import Memory, check_memories, list_text


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
