"""merge_rearrangements and lower_rearrangements: graphs that move values compute what numpy does."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from cmsis_nn_delegate.graph.ir import Graph, Value
from cmsis_nn_delegate.graph.tensor_type import Element, Layout, TensorType
from cmsis_nn_delegate.ops.loops import find_loops
from cmsis_nn_delegate.ops.rearrange import RearrangeAttrs
from cmsis_nn_delegate.passes.merge_rearrangements import merge_rearrangements
from cmsis_nn_delegate.passes.run_passes import PASSES
from cmsis_nn_delegate.reference import run
from cmsis_nn_delegate.testing.graph_builder import GraphBuilder


class Moves(GraphBuilder):
    """Graphs of rearranges and reshapes, with numpy's result of each value for numbered elements of the input."""

    def __init__(self, *shape: int) -> None:
        super().__init__()
        layout = Layout.ROW_MAJOR
        self.start = self.input(*shape, layout=layout)
        self.numbers = {id(self.start): np.arange(math.prod(shape)).reshape(shape)}

    def move(self, x: Value, moved: np.ndarray) -> Value:
        """`moved` is the result, of numbered elements of `x`."""
        loops = find_loops(moved.reshape(-1))
        assert loops is not None
        return self._define("rearrange", x, RearrangeAttrs(loops, moved.shape), moved)

    def view(self, x: Value, *shape: int) -> Value:
        return self._define("reshape", x, None, np.arange(x.numel).reshape(shape))

    def _define(self, op: str, x: Value, attrs, moved: np.ndarray) -> Value:
        output = Value(f"v{len(self.nodes)}", TensorType(Element.INT8, moved.shape, quant=x.quant))
        self.numbers[id(output)] = self.numbers[id(x)].reshape(-1)[moved]
        return self._append(op, [x], output, attrs)


def numbered(x: Value) -> np.ndarray:
    return np.arange(x.numel).reshape(x.shape)


def lowered(graph: Graph) -> Graph:
    """`graph`, of integers, after the passes that follow on quantization."""
    for step in PASSES[PASSES.index(merge_rearrangements) :]:
        step(graph)
        graph.verify()
    return graph


def check(moves: Moves, *outputs: Value):
    """The lowered graph, which gives what numpy gives."""
    wanted = [moves.numbers[id(value)] for value in outputs]
    graph = lowered(moves.graph(*outputs))
    data = np.random.default_rng(1).integers(-128, 127, moves.start.shape, dtype=np.int8)
    for got, want in zip(run(graph, [data]), wanted):
        assert np.array_equal(got, data.reshape(-1)[want])
    return graph


def _step(draw, moves: Moves, x: Value) -> Value:
    """One random operator after `x`."""
    rank = len(x.shape)
    axis = draw(st.integers(0, rank - 1))
    kind = draw(st.sampled_from(["permute", "slice", "flip", "expand", "repeat", "merge", "split", "unsqueeze"]))
    elements = numbered(x)
    if kind == "permute":
        return moves.move(x, elements.transpose(draw(st.permutations(range(rank)))))
    if kind == "slice":
        start = draw(st.integers(0, x.shape[axis] - 1))
        index = slice(start, draw(st.integers(start + 1, x.shape[axis])), draw(st.integers(1, 3)))
        return moves.move(x, elements[(slice(None),) * axis + (index,)])
    if kind == "flip":
        return moves.move(x, np.flip(elements, axis))
    if kind == "expand" and rank < 6 and x.numel < 500:
        return moves.move(x, np.broadcast_to(np.expand_dims(elements, axis), _with(x.shape, axis, 2)))
    if kind == "repeat" and x.numel < 500:
        return moves.move(x, np.repeat(elements, 2, axis))
    if kind == "merge" and rank > 1:
        axis = min(axis, rank - 2)
        return moves.view(x, *x.shape[:axis], x.shape[axis] * x.shape[axis + 1], *x.shape[axis + 2 :])
    if kind == "split" and rank < 6 and x.shape[axis] % 2 == 0:
        return moves.view(x, *x.shape[:axis], 2, x.shape[axis] // 2, *x.shape[axis + 1 :])
    return moves.view(x, *_with(x.shape, axis, 1)) if rank < 6 else x


def _with(shape, axis: int, size: int):
    return *shape[:axis], size, *shape[axis:]


@settings(max_examples=250, deadline=None)
@given(data=st.data())
def test_random_moves(data):
    moves = Moves(*data.draw(st.lists(st.integers(1, 4), min_size=2, max_size=5)))
    x, other = moves.start, None
    for _ in range(data.draw(st.integers(1, 5))):
        if data.draw(st.integers(0, 3)) == 0:
            other = x  # read twice
        x = _step(data.draw, moves, x)
    outputs = [x]
    if other is not None:
        outputs.append(_step(data.draw, moves, other))
    if all(value is not moves.start for value in outputs) and outputs[0] is not outputs[-1] or len(outputs) == 1:
        if x is not moves.start:
            check(moves, *outputs)


def test_a_pair_of_permutes_is_nothing():
    moves = Moves(2, 3, 4, 5)
    x = moves.move(moves.start, numbered(moves.start).transpose(0, 2, 3, 1))
    x = moves.move(x, numbered(x).transpose(0, 3, 1, 2))
    graph = moves.graph(x)
    merge_rearrangements(graph)
    assert [node.op for node in graph.nodes] == ["reshape"]


def test_a_chain_with_views_between_is_one_copy():
    moves = Moves(1, 8, 3, 5)
    x = moves.view(moves.start, 1, 2, 4, 3, 5)
    x = moves.move(x, numbered(x).transpose(0, 2, 1, 3, 4))
    x = moves.view(x, 1, 8, 3, 5)
    x = moves.move(x, numbered(x)[:, 2:6])
    (node,) = check(moves, x).nodes
    assert node.op == "strided_copy" and len(node.sources) == 4


def test_a_reshape_that_others_read_stays():
    moves = Moves(4, 6)
    x = moves.view(moves.start, 2, 2, 6)
    graph = check(moves, x, moves.move(x, numbered(x).transpose(2, 0, 1)))
    assert [node.op for node in graph.nodes] == ["transpose", "strided_copy"]


def test_an_image_as_it_lies_in_memory_needs_no_copy():
    """A linear layer of the channels of every pixel reads what the convolution wrote."""
    moves = Moves(1, 3, 6, 5)
    image = moves.conv2d(moves.start, 8)
    moves.numbers[id(image)] = np.zeros(image.shape, int)
    pixels = moves.move(moves.view(image, 1, 8, 12), np.arange(96).reshape(1, 8, 12).transpose(0, 2, 1))
    graph = moves.graph(moves.fully_connected(moves.view(pixels, 12, 8), 4))
    assert [node.op for node in lowered(graph).nodes] == ["transpose", "conv2d", "fully_connected"]


def test_loops_that_the_layout_breaks_go_through_row_major():
    """Some elements in a row of an image that lies channels-last: no loops over its memory give them."""

    def graph(part: bool):
        moves = Moves(1, 3, 6, 5)
        image = moves.conv2d(moves.start, 8)
        moves.numbers[id(image)] = np.zeros(image.shape, int)
        return moves.graph(moves.move(moves.view(image, 96), np.arange(7, 29)) if part else image)

    data = np.arange(90, dtype=np.int8).reshape(1, 3, 6, 5)
    part = lowered(graph(part=True))
    assert [node.op for node in part.nodes] == ["transpose", "conv2d", "transpose", "strided_copy"]
    (whole,), (got,) = run(lowered(graph(part=False)), [data]), run(part, [data])
    assert np.array_equal(got, whole.reshape(-1)[7:29])
