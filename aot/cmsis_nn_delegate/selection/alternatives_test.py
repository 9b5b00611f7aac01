"""choose_graph: what it takes in the place of a graph, and what stays."""

from dataclasses import replace

import numpy as np
import pytest

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.graph.tensor_type import Element
from cmsis_nn_delegate.ops.attrs import TransposeConvAttrs
from cmsis_nn_delegate.passes.run_passes import run_passes
from cmsis_nn_delegate.payload.lower_partition import encode
from cmsis_nn_delegate.selection import alternatives
from cmsis_nn_delegate.selection.alternatives import choose_graph
from cmsis_nn_delegate.selection.choose_kernels import Choice, choose_kernels, legalize
from cmsis_nn_delegate.selection.options import PayloadOptions
from cmsis_nn_delegate.selection.planned import plan
from cmsis_nn_delegate.targets.target import get_target
from cmsis_nn_delegate.testing import networks
from cmsis_nn_delegate.testing.random_case import RandomCase

M4, M55 = get_target("cortex-m4"), get_target("cortex-m55")


def upsampled(inputs=16, outputs=8, size=(8, 8), kernel=(4, 4), padding=(1, 1), element=Element.INT8):
    """An image twice as high and wide."""
    d = RandomCase(1)
    x = d.input(1, inputs, *size, element=element)
    (weight, bias), quant = d.weights(x, (outputs, inputs, *kernel))
    attrs = TransposeConvAttrs((2, 2), padding, (1, 1), 1, (2 * size[0], 2 * size[1]), d.clamp())
    graph = d.graph(d.node("transpose_conv2d", [x, weight, bias], attrs, quant))
    return run_passes(graph)


def ops(chosen):
    return [node.op for node in chosen.graph.nodes]


def flash(chosen):
    return sum(choice.flash_bytes() for choice in chosen.choices)


@pytest.mark.parametrize("target", [M4, M55], ids=lambda target: target.name)
@pytest.mark.parametrize("element", [Element.INT8, Element.INT16])
def test_what_takes_fewer_instructions_is_taken(target, element):
    graph = upsampled(element=element, inputs=64)
    legal = legalize(graph)
    before, found = choose_kernels(legal, target), choose_graph(legal, target)
    assert ops(before) == ["transpose_conv2d"] and "conv2d" in ops(found)
    assert found.instructions() < 0.75 * before.instructions()
    assert plan(found).memory.arena_bytes <= plan(before).memory.arena_bytes
    (note,) = found.graph.notes
    saved = 100 * (1 - found.instructions() / before.instructions())
    assert f"about {saved:.1f} % fewer instructions" in note and f"{abs(flash(found) - flash(before)):,} bytes" in note
    assert graph.notes == [] and encode(graph, target).graph.notes == [note]
    inputs = networks.random_inputs(graph, 0)
    np.testing.assert_array_equal(reference.run(found.graph, inputs)[0], reference.run(graph, inputs)[0])


def test_who_prefers_flash_gets_less_of_it():
    options = PayloadOptions.of(prefer="flash")
    for graph in (upsampled(kernel=(2, 2), padding=(0, 0), inputs=64), upsampled(inputs=64)):
        legal = legalize(graph, options)
        sizes = [flash(choose_kernels(replace(other, options=options), M4)) for other in legal.alternatives.values()]
        before, found = choose_kernels(legal, M4), choose_graph(legal, M4)
        assert flash(found) == min(flash(before), *sizes)


def test_the_arena_does_not_grow():
    """Of a filter as large as the stride, the convolution computes as much as the output, which would be in memory next
    to it."""
    graph = upsampled(kernel=(2, 2), padding=(0, 0), inputs=4)
    legal = legalize(graph)
    (other,) = legal.alternatives.values()
    before, found = choose_kernels(legal, M55), choose_kernels(other, M55)
    assert found.instructions() < before.instructions()
    assert plan(found).memory.arena_bytes > plan(before).memory.arena_bytes
    assert choose_graph(legal, M55).graph is graph


def test_the_growth_of_flash_is_limited():
    graph = upsampled(inputs=4, outputs=200, size=(1, 8), kernel=(2, 2), padding=(0, 0))
    legal = legalize(graph)
    (other,) = legal.alternatives.values()
    assert flash(choose_kernels(other, M55)) > flash(choose_kernels(legal, M55)) + 2048
    assert choose_graph(legal, M55).graph is graph


@pytest.mark.parametrize("target", [M4, M55], ids=lambda target: target.name)
def test_the_order_of_alternatives_does_not_matter(target):
    legal = legalize(upsampled(inputs=64))
    found = {what: choose_kernels(other, target).instructions() for what, other in legal.alternatives.items()}
    assert len(set(found.values())) == 2
    backwards = replace(legal, alternatives=dict(reversed(legal.alternatives.items())))
    for each in (legal, backwards):
        assert choose_graph(each, target).instructions() == min(found.values())


def test_what_takes_more_instructions_is_not_taken():
    legal = legalize(upsampled(inputs=64))
    for other in legal.alternatives.values():
        assert choose_graph(replace(other, alternatives={"back": legal}), M4).graph is other.graph


def test_what_cannot_be_predicted_is_not_taken(monkeypatch):
    graph = upsampled(inputs=64)
    legal = legalize(graph)
    assert choose_graph(legal, M4).graph is not graph
    known = Choice.instructions
    monkeypatch.setattr(
        Choice,
        "instructions",
        lambda choice, target: known(choice, target) if choice.node.op != "strided_copy" else None,
    )
    assert choose_graph(legal, M4).graph is graph


@pytest.mark.parametrize("percent, taken", [(0, False), (100, True)])
def test_large_models_may_grow_by_a_part_of_their_flash(monkeypatch, percent, taken):
    graph = upsampled(inputs=64, kernel=(2, 2), padding=(0, 0))
    legal = legalize(graph)
    (other,) = legal.alternatives.values()
    assert flash(choose_kernels(other, M4)) > flash(choose_kernels(legal, M4))
    monkeypatch.setattr(alternatives, "_GROWTH_BYTES", 0)
    monkeypatch.setattr(alternatives, "_GROWTH_PERCENT", percent)
    assert (choose_graph(legal, M4).graph is not graph) == taken


def test_without_a_kernel_for_an_alternative_the_graph_stays():
    graph = upsampled()
    options = PayloadOptions.of(providers=("cmsis-nn",))
    legal = legalize(graph, options)
    assert legal.alternatives == {}  # CMSIS-NN has no strided copy
    assert choose_graph(legal, M4).graph is graph
    other = replace(legalize(graph), options=replace(options, providers=()))
    assert choose_graph(other, M4).options.providers == ()
