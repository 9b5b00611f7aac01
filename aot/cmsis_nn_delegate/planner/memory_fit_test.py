import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.planner.memory import IoPlacement
from cmsis_nn_delegate.planner.memory_fit import DoesNotFit
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.targets.memory import Memory
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing import networks
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder

M4 = get_target("cortex-m4")


@pytest.fixture(scope="module")
def graph():
    return networks.ds_cnn()


@pytest.fixture(scope="module")
def spread(graph):
    return encode(graph, M4, PayloadOptions(memories=(Memory("fast", 4096), Memory("slow", 1 << 20))))


def test_a_model_may_fill_its_memories(graph, spread):
    slow, fast = spread.plan.memories
    tight = [Memory("fast", fast.limit), Memory("slow", slow.nbytes)]
    assert encode(graph, M4, PayloadOptions(memories=tuple(tight))).payload == spread.payload


def test_a_model_that_does_not_fit_says_by_how_much_and_what_helps(graph):
    bound = max(v.nbytes for v in graph.inputs)  # the input has to lie in the arena
    with pytest.raises(UserError) as error:
        encode(graph, M4, PayloadOptions(memories=(Memory("fast", 64), Memory("slow", bound))))
    message = str(error.value)
    assert error.value.exit_code == 1
    found = re.search(r"slow would take ([\d,]+) bytes, ([\d,]+) more than its ([\d,]+)", message)
    nbytes, excess, limit = (int(number.replace(",", "")) for number in found.groups())
    assert limit == bound and excess == nbytes - limit > 0
    assert re.search(r"It is full in call \d+, \w+ of \S+, whose largest buffers are \S+ with [\d,]+ bytes", message)
    assert re.search(r"The rest takes \d+ of 64 bytes of fast", message)
    assert message.endswith(f"It fits with {excess:,} more bytes of slow")
    # That is true.
    encode(graph, M4, PayloadOptions(memories=(Memory("fast", 64), Memory("slow", bound + excess))))


@settings(max_examples=25, deadline=None)
@given(
    st.integers(0, 2**32), st.lists(st.integers(1, 2048), min_size=1, max_size=3), st.sampled_from(["arena", "caller"])
)
def test_a_model_fits_with_what_is_missing_and_not_with_less(seed, sizes, placement):
    graph = networks.random_network(seed)
    *fast, last = [Memory(f"m{i}", size) for i, size in enumerate(sizes)]
    try:
        encode(graph, M4, PayloadOptions(IoPlacement.of(placement), memories=(*fast, last)))
    except DoesNotFit as error:
        excess = int(re.search(r"It fits with ([\d,]+) more bytes", str(error))[1].replace(",", ""))
        assert encode(
            graph,
            M4,
            PayloadOptions(IoPlacement.of(placement), memories=(*fast, Memory(last.name, last.nbytes + excess))),
        ).plan.memories
        less = Memory(last.name, last.nbytes + excess - 1)
        with pytest.raises(DoesNotFit):
            encode(graph, M4, PayloadOptions(IoPlacement.of(placement), memories=(*fast, less)))


def test_what_has_to_lie_in_the_arena_is_named(graph):
    with pytest.raises(UserError, match="The input x0 alone takes 490 bytes, and has to lie in ram. It fits with"):
        encode(graph, M4, PayloadOptions(memories=(Memory("fast", 1 << 20), Memory("ram", 64))))
    with pytest.raises(UserError) as error:
        encode(graph, M4, PayloadOptions(IoPlacement.CALLER, memories=(Memory("ram", 64),)))
    assert "alone" not in str(error.value) and "The rest" not in str(error.value)


def test_the_state_does_not_help_but_its_memory_does(graph):
    alone = encode(graph, M4).plan.arena_bytes
    with pytest.raises(UserError, match=f"16 more than its {alone - 16:,}, without the 16 of the state"):
        encode(graph, M4, PayloadOptions(memories=(Memory.of(f"ram={alone}:activations,scratch,weights"),)))


def test_there_are_as_many_memories_as_references_can_name(graph):
    memories = (*(Memory(f"m{i}", 1024) for i in range(11)), Memory("last", 1 << 20))
    assert len(encode(graph, M4, PayloadOptions(memories=memories)).plan.region_bytes) == 11
    builder = GraphBuilder()
    of_two = builder.graph(builder.add(builder.input(1, 8), builder.input(1, 8)))
    with pytest.raises(ValueError, match="3 inputs and outputs; a payload has at most 2 beside 12 memories"):
        encode(of_two, M4, PayloadOptions(memories=memories))
    with pytest.raises(ValueError, match="13 memories are given; a payload can use at most 12"):
        PayloadOptions(memories=(Memory("first", 16), *memories))
