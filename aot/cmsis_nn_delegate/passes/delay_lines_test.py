"""delay_lines: the same results as the states that are copied whole, for any slices and layouts."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.graph.ir import Graph, Node, Value
from cmsis_nn_delegate.graph.tensor_type import Element, Quant, TensorType
from cmsis_nn_delegate.ops.attrs import ConcatAttrs
from cmsis_nn_delegate.ops.held import HeldAttrs, initial_value
from cmsis_nn_delegate.ops.loops import find_loops
from cmsis_nn_delegate.ops.rearrange import RearrangeAttrs
from cmsis_nn_delegate.passes.delay_lines import delay_lines
from cmsis_nn_delegate.passes.run_passes import PASSES, run_passes

Q = Quant((0.5,), 3)


def taken(whole, axis, first, step, count, name):
    """A slice of a value."""
    shape = tuple(count if i == axis else n for i, n in enumerate(whole.shape))
    numbers = np.take(np.arange(whole.numel).reshape(whole.shape), first + step * np.arange(count), axis)
    attrs = RearrangeAttrs(find_loops(numbers.reshape(-1)), shape)
    return Node("rearrange", name, [whole], [Value(name, whole.type.of(shape=shape))], attrs)


def with_line(rows, new, shape, axis, slices, initial, kept=None):
    """A graph that returns slices (first, step, count) of a line of `rows` and `new` columns, or all of it."""

    def typed(count):
        return TensorType(Element.INT8, tuple(count if i == axis else n for i, n in enumerate(shape)), quant=Q)

    state, old, x, whole = (Value(n, typed(c)) for n, c in zip(("s", "old", "x", "all"), (rows, rows, new, rows + new)))
    start = initial_value("s", initial.reshape(state.shape))
    nodes = [
        Node("recall", "old", [start], [old], HeldAttrs(old.shape), states=[state]),
        Node("concat", "all", [old, x], [whole], ConcatAttrs(axis)),
    ]
    outputs = []
    for index, part in enumerate(slices):
        nodes.append(taken(whole, axis, *part, f"out{index}"))
        outputs.append(nodes[-1].output)
    kept = taken(whole, axis, *(kept or (new, 1, rows)), "kept")
    nodes += [kept, Node("keep", "keep", [kept.output, start], [], HeldAttrs(state.shape), states=[state])]
    return Graph([x], outputs, nodes)


@st.composite
def lines(draw):
    rows = draw(st.integers(1, 9))
    new = draw(st.integers(1, rows))
    shape, axis = draw(
        st.sampled_from([((1, 5, 0, 2), 2), ((1, 5, 1, 0), 3), ((1, 0, 6), 1), ((0, 3), 0), ((1, 1, 0, 4), 2)])
    )
    slices = []
    for _ in range(draw(st.integers(1, 3))):
        first, step = draw(st.integers(0, rows + new - 1)), draw(st.integers(1, 4))
        slices.append((first, step, draw(st.integers(1, (rows + new - 1 - first) // step + 1))))
    random = np.random.default_rng(draw(st.integers(0, 2**32)))
    size = rows * int(np.prod([n for i, n in enumerate(shape) if i != axis]))
    initial = random.integers(-128, 128, size, np.int8) if draw(st.booleans()) else np.full(size, 3, np.int8)
    return rows, new, shape, axis, slices, initial


@given(lines())
def test_results_stay_the_same(line):
    graphs = [with_line(*line), run_passes(with_line(*line))]
    for step in PASSES:
        if step is not delay_lines:
            step(graphs[0])
    ops = {node.op for node in graphs[1].nodes}
    assert "delay_line_write" in ops and not ops & {"recall", "keep"}
    states = [reference.initial_states(graph) for graph in graphs]
    random = np.random.default_rng(0)
    for _ in range(12):
        x = random.integers(-128, 128, graphs[0].inputs[0].shape, np.int8)
        expected, found = (reference.run(graph, [x], states=state) for graph, state in zip(graphs, states))
        for a, b in zip(expected, found, strict=True):
            np.testing.assert_array_equal(a, b)


def stays(*line, **options):
    graph = with_line(*line, **options)
    before = [node.op for node in graph.nodes]
    delay_lines(graph)
    assert [node.op for node in graph.nodes] == before


def test_other_states_stay():
    zeros = np.zeros(24, np.int8)
    stays(3, 1, (2, 0, 4), 1, [(0, 1, 1)], zeros)  # columns of two images are apart
    stays(3, 1, (1, 4, 0), 2, [(0, 1, 1)], zeros[:12])  # so are those of a row-major signal
    stays(3, 1, (1, 0, 4), 1, [(0, 1, 1)], zeros[:12], kept=(0, 1, 3))  # which keeps what it had


def test_only_what_is_read_is_copied():
    graph = with_line(8, 2, (1, 0, 6), 1, [(0, 1, 2), (3, 2, 3), (7, 1, 3), (8, 1, 2)], np.zeros(48, np.int8))
    delay_lines(graph)
    reads = [node.attrs for node in graph.nodes if node.op == "delay_line_read"]
    assert [(a.first, a.step, a.count) for a in reads] == [(0, 1, 2), (3, 2, 3), (7, 1, 1)]
