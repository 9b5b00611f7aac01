"""delay_lines: the same results as the states that are copied whole, for any slices and layouts."""

from __future__ import annotations

import copy

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cmsis_nn_delegate import reference
from cmsis_nn_delegate.graph.ir import Graph, Node, Value
from cmsis_nn_delegate.graph.tensor_type import Element, Layout, Quant, TensorType
from cmsis_nn_delegate.ops.attrs import ConcatAttrs, Padding
from cmsis_nn_delegate.ops.held import HeldAttrs, initial_value
from cmsis_nn_delegate.ops.loops import find_loops
from cmsis_nn_delegate.ops.rearrange import RearrangeAttrs
from cmsis_nn_delegate.passes.delay_lines import delay_lines
from cmsis_nn_delegate.passes.run_passes import PASSES, run_passes
from cmsis_nn_delegate.support.errors import UserError
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder

Q = Quant((0.5,), 3)


def taken(whole, axis, first, step, count, name):
    """A slice of a value."""
    shape = tuple(count if i == axis else n for i, n in enumerate(whole.shape))
    numbers = np.take(np.arange(whole.numel).reshape(whole.shape), first + step * np.arange(count), axis)
    attrs = RearrangeAttrs(find_loops(numbers.reshape(-1)), shape)
    return Node("rearrange", name, [whole], [Value(name, whole.type.of(shape=shape))], attrs)


def with_line(rows, new, shape, axis, slices, initial, signal=False, kept=None):
    """A graph that returns slices (first, step, count) of a line of `rows` and `new` columns, or all of it. As a
    `signal`, the state has no dimensions of size 1, unlike the line."""

    def typed(count):
        return TensorType(Element.INT8, tuple(count if i == axis else n for i, n in enumerate(shape)), quant=Q)

    state, old, x, whole = (Value(n, typed(c)) for n, c in zip(("s", "old", "x", "all"), (rows, rows, new, rows + new)))
    held = old
    if signal:
        flat = tuple(n for n in state.shape if n != 1)
        state, held = Value("s", state.type.of(shape=flat)), Value("held", old.type.of(shape=flat))
    start = initial_value("s", initial.reshape(state.shape))
    nodes = [
        Node("recall", "old", [start], [held], HeldAttrs(held.shape), states=[state]),
        *([Node("reshape", "view", [held], [old])] if signal else []),
        Node("concat", "all", [old, x], [whole], ConcatAttrs(axis)),
    ]
    outputs = []
    for index, part in enumerate(slices):
        nodes.append(taken(whole, axis, *part, f"out{index}"))
        outputs.append(nodes[-1].output)
    nodes.append(taken(whole, axis, *(kept or (new, 1, rows)), "kept"))
    left = nodes[-1].output
    if signal:
        left = Value("left", left.type.of(shape=state.shape))
        nodes.append(Node("reshape", "squeezed", [nodes[-1].output], [left]))
    nodes.append(Node("keep", "keep", [left, start], [], HeldAttrs(state.shape), states=[state]))
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
    return rows, new, shape, axis, slices, initial, draw(st.booleans())


def compare(graph):
    """Compares what a graph computes with what it computes where states are copied whole. Returns it with its rings."""
    copied, ring = copy.deepcopy(graph), run_passes(copy.deepcopy(graph))
    for step in PASSES:
        if step is not delay_lines:
            step(copied)
    ops = {node.op for node in ring.nodes}
    assert "delay_line_write" in ops and not ops & {"recall", "keep"}
    states = [reference.initial_states(each) for each in (copied, ring)]
    random = np.random.default_rng(0)
    for _ in range(12):
        x = random.integers(-128, 128, graph.inputs[0].shape, np.int8)
        expected, found = (reference.run(each, [x], states=state) for each, state in zip((copied, ring), states))
        for a, b in zip(expected, found, strict=True):
            np.testing.assert_array_equal(a, b)
    return ring


@given(lines())
def test_results_stay_the_same(line):
    compare(with_line(*line))


@pytest.mark.parametrize("depthwise", [False, True])
@pytest.mark.parametrize(
    "axis, rows, dilation, padding, read",
    [
        (3, 8, (1, 4), Padding(), [(0, 4, 2)]),
        (2, 6, (3, 1), Padding(), [(0, 3, 2)]),
        (3, 8, (1, 3), Padding(), [(0, 3, 3)]),  # a line that is longer than the windows
        (3, 8, (1, 1), Padding(), [(0, 1, 8)]),
        (3, 8, (1, 4), Padding(0, 1, 0, 0), [(0, 1, 8)]),
        # A line of images, which are the channels: the distances are not between them.
        (1, 1, (1, 2), Padding(), [(0, 1, 1)]),
        (1, 3, (2, 2), Padding(), [(0, 1, 3)]),
    ],
)
def test_a_convolution_of_distant_columns(depthwise, axis, rows, dilation, padding, read):
    shape, kernel = {1: ((1, 0, 6, 8), (3, 3)), 2: ((1, 6, 0, 1), (3, 1)), 3: ((1, 6, 1, 0), (1, 3))}[axis]
    initial = np.zeros(rows * (48 if axis == 1 else 6), np.int8)
    graph = with_line(rows, 1, shape, axis, [(0, 1, 1)], initial)
    whole = graph.nodes[1].output
    builder = GraphBuilder()
    options = {"kernel": kernel, "dilation": dilation, "padding": padding, "stride": (9, 9)}
    x = Value("all", whole.type)
    channels = 1 if axis == 1 else 5
    y = builder.depthwise_conv2d(x, **options) if depthwise else builder.conv2d(x, channels, **options)
    (convolution,) = builder.nodes
    convolution.inputs[0] = whole
    y.retype(layout=Layout.ROW_MAJOR)
    graph.nodes[2:3] = [convolution]
    graph.outputs = [y]
    ring = compare(graph)
    reads = [node.attrs for node in ring.nodes if node.op == "delay_line_read"]
    assert [(a.first, a.step, a.count) for a in reads] == read


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


@pytest.mark.parametrize("op, column", [("read", 0), ("write", 3)])  # a new column is not read from the line
def test_a_position_that_is_none_of_the_line(op, column):
    """The kernels refuse it, and so the reference must, rather than to take it for that of some row."""
    graph = run_passes(with_line(3, 1, (1, 0, 4), 1, [(column, 1, 1)], np.zeros(12, np.int8)))
    assert ("delay_line_read" in [node.op for node in graph.nodes]) == (op == "read")
    memory = bytearray(reference.memory_of(graph, reference.initial_states(graph)))

    def go_on(position):
        memory[:4] = position.to_bytes(4, "little")
        reference.run(graph, [np.zeros((1, 1, 4), np.int8)], states=reference.states_in(graph, bytes(memory)))

    go_on(2)
    for position in (3, 2**32 - 1):
        with pytest.raises(UserError, match=f"the oldest row of the state is number {position} of 3, counted from 0"):
            go_on(position)


def test_only_what_is_read_is_copied():
    graph = with_line(8, 2, (1, 0, 6), 1, [(0, 1, 2), (3, 2, 3), (7, 1, 3), (8, 1, 2)], np.zeros(48, np.int8))
    delay_lines(graph)
    reads = [node.attrs for node in graph.nodes if node.op == "delay_line_read"]
    assert [(a.first, a.step, a.count) for a in reads] == [(0, 1, 2), (3, 2, 3), (7, 1, 1)]


def test_one_that_is_read_as_a_signal_too():
    """What is kept has another reader, behind the reshape that makes a signal of it."""
    graph = with_line(4, 1, (1, 6, 1, 0), 3, [(0, 1, 5)], np.zeros(24, np.int8), signal=True)
    left = next(node for node in graph.nodes if node.op == "keep").inputs[0]
    graph.outputs.append(left)
    compare(graph)


def test_the_old_value_is_read_elsewhere():
    graph = with_line(4, 1, (1, 6, 1, 0), 3, [(0, 1, 5)], np.zeros(24, np.int8), signal=True)
    graph.outputs.append(graph.nodes[0].output)
    before = [node.op for node in graph.nodes]
    delay_lines(graph)
    assert [node.op for node in graph.nodes] == before
