"""What the compiler writes and says of a provider that is registered from outside."""

import re
from pathlib import Path

import pytest

from cmsis_nn_delegate.emit.kernel_table import generate_kernel_table
from cmsis_nn_delegate.format.opcodes import Opcode
from cmsis_nn_delegate.ops import extremum
from cmsis_nn_delegate.ops.extremum import ExtremumAttrs
from cmsis_nn_delegate.payload.decode import PayloadError, decode
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.providers.implementation import OwnImplementation, Symbol
from cmsis_nn_delegate.providers.registry import PROVIDERS, kernels, register
from cmsis_nn_delegate.selection.choose_kernels import choose_kernels, legalize
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder
from tests.extension.words.provider import Words

FOLDER = Path(__file__).parent
M4 = get_target("cortex-m4")


@pytest.fixture
def words():
    provider = Words()
    register(provider)
    yield provider
    PROVIDERS.pop(provider.name, None)


def preferred():
    """Without `tuned`: with it, portable maxima come before those of CMSIS-NN, which take more instructions."""
    return PayloadOptions.of(providers=("words", "cmsis-nn", "portable"))


def maxima(*counts):
    """Returns a graph of maxima, each of two tensors with as many elements."""
    b = GraphBuilder()
    outputs = []
    for count in counts:
        first, second = b.input(1, count), b.input(1, count)
        second.retype(quant=first.quant)
        outputs.append(b.node("extremum", [first, second], ExtremumAttrs(largest=True), first.quant))
    return b.graph(*outputs)


def choices(graph, target):
    return choose_kernels(legalize(graph, preferred()), target).choices


def test_files_name_its_kernel_and_no_others():
    report = (FOLDER / "net.report.txt").read_text()
    assert re.search(r"^.* maximum +words +", report, re.MULTILINE)
    assert '"kernel":"maximum","provider":"words"' in (FOLDER / "net.report.html").read_text()
    table = (FOLDER / "net.kernels.h").read_text()
    assert "        words::kMaximum,\n" in table and '#include "tests/extension/words/words.h"' in table
    sources = (FOLDER / "net.sources.txt").read_text().splitlines()
    assert '"${WORDS_DIR}/tests/extension/words/maximum.cc"' in sources and '-I"${WORDS_DIR}"' in sources
    assert not any("arm_maximum" in line for line in sources)


def test_it_takes_what_it_can_on_its_cores(words):
    first, second = choices(maxima(8, 6), M4)
    assert (first.provider, first.assignment.why) == (words, "")
    assert second.provider.name == "cmsis-nn"
    assert second.assignment.why == "maximum: it takes words of 4 elements, not 6 elements"
    (choice,) = choices(maxima(8), get_target("cortex-m55"))
    assert (choice.provider.name, choice.assignment.why) == ("cmsis-nn", "")


def test_calls_of_one_kernel_by_two_providers_have_a_kernel_that_runs_both(words):
    payload = encode(maxima(8, 6), M4, preferred()).payload
    assert [call.provider.name for call in decode(payload).calls] == ["words", "cmsis-nn"]
    assert decode(payload).revisions == {1: PROVIDERS["cmsis-nn"].revision, 3: words.revision}
    assert "        portable::kMaximum,\n" in generate_kernel_table("net", payload)


def test_nobody_else_reads_its_payloads(words):
    payload = encode(maxima(8), M4, preferred()).payload
    del PROVIDERS["words"]
    with pytest.raises(PayloadError, match="00000007 of provider 3, which is not registered"):
        decode(payload)


@pytest.mark.parametrize(
    "change, message",
    [
        ({"id": 8}, r"provider words: id 8 is not in \[0, 8\)"),
        ({"id": 2}, "there is already tuned, id 2, namespace tuned; choose others"),
        ({"name": "portable"}, "there is already portable, id 0"),
        ({"namespace": "cmsis_nn"}, "there is already cmsis-nn, id 1"),
        ({"name": "a,b"}, "a name without commas"),
        ({"revision": 0}, r"revision 0 is not in \[1, 2\^32\)"),
        ({"revision": 1 << 32}, "revision 4294967296 is not in"),
        ({"library": PROVIDERS["cmsis-nn"].library}, "only ours call a library"),
    ],
)
def test_names_and_numbers_are_taken_once(change, message, monkeypatch):
    for name, value in change.items():
        monkeypatch.setattr(Words, name, value)
    with pytest.raises(ValueError, match=message):
        register(Words())


def test_it_alone_says_what_is_missing(words):
    options = PayloadOptions.of(providers=("words", "tuned"))
    with pytest.raises(ValueError, match=r"\(words has no maximum for all cores; tuned has no maximum for all cores\)"):
        legalize(maxima(8), options)


def test_an_implementation_of_its_own_may_call_the_kernel_of_an_operator(words, monkeypatch):
    class Own(OwnImplementation):
        name = "own"
        op = "extremum"
        like = extremum.MAXIMUM
        symbol = Symbol(extremum.MAXIMUM)

    monkeypatch.setattr(Words, "implementations", lambda self, op: (Own(),) if op == Own.op else ())
    del PROVIDERS["words"]
    before = kernels()
    register(words)
    assert kernels() is not before
    assert kernels()[Opcode.MAXIMUM] is extremum.MAXIMUM
