import re

import pytest

from cmsis_nn_delegate.errors import UserError
from cmsis_nn_delegate.payload.encode import encode
from cmsis_nn_delegate.payload.planner.memories import Memory
from cmsis_nn_delegate.target import get_target
from cmsis_nn_delegate.testing import networks

M4 = get_target("cortex-m4")


@pytest.fixture(scope="module")
def graph():
    return networks.ds_cnn()


@pytest.fixture(scope="module")
def spread(graph):
    return encode(graph, M4, memories=[Memory("fast", 4096), Memory("slow", 1 << 20)])


def test_a_model_may_fill_its_memories(graph, spread):
    slow, fast = spread.plan.memories
    tight = [Memory("fast", fast.limit), Memory("slow", slow.nbytes)]
    assert encode(graph, M4, memories=tight).payload == spread.payload


def test_a_model_that_does_not_fit_says_by_how_much_and_what_helps(graph):
    bound = max(v.nbytes for v in graph.inputs)  # the input has to lie in the arena
    with pytest.raises(UserError) as error:
        encode(graph, M4, memories=[Memory("fast", 64), Memory("slow", bound)])
    message = str(error.value)
    assert error.value.exit_code == 1
    found = re.search(r"slow would take ([\d,]+) bytes, ([\d,]+) more than its ([\d,]+)", message)
    nbytes, excess, limit = (int(number.replace(",", "")) for number in found.groups())
    assert limit == bound and excess == nbytes - limit > 0
    assert re.search(r"It is full in call \d+, \w+ of \S+, whose largest buffers are \S+ with [\d,]+ bytes", message)
    assert re.search(r"The rest takes \d+ of 64 bytes of fast", message)
    assert "--prefer ram" in message and f"or {excess:,} more bytes of slow" in message
    # That is true.
    encode(graph, M4, memories=[Memory("fast", 64), Memory("slow", bound + excess)])


def test_advice_that_was_taken_is_not_given(graph):
    with pytest.raises(UserError) as error:
        encode(graph, M4, "caller", memories=[Memory("ram", 64)])
    assert "--io-placement" not in str(error.value) and "The rest" not in str(error.value)


def test_there_are_as_many_memories_as_references_can_name(graph):
    memories = [Memory(f"m{i}", 1024) for i in range(11)] + [Memory("last", 1 << 20)]
    assert len(encode(graph, M4, memories=memories).plan.region_bytes) == 11
    with pytest.raises(ValueError, match="2 inputs and outputs; a payload has at most 1 beside 13 memories"):
        encode(graph, M4, memories=[Memory("first", 16), *memories])
