"""Keeps states that new values move through as rings, of which only what is read is copied."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Optional

import numpy as np

from ..graph.ir import Graph, Node, Value
from ..graph.tensor_type import Layout
from ..ops.attrs import ConcatAttrs, ConvAttrs
from ..ops.delay_line import state_of
from ..ops.delay_line_read import DelayLineReadAttrs
from ..ops.delay_line_write import DelayLineWriteAttrs
from ..ops.held import initial_value
from ..ops.loops import find_loops
from ..ops.rearrange import RearrangeAttrs
from .rewriting import derived, insert_before, replace_input


def delay_lines(graph: Graph) -> None:
    """Turns

        old = recall(state); all = concat(old, x, axis); keep(the last columns of all, as many as old has)

    into a write of x over the oldest columns of the state, and reads of the columns that others take of `all`. Columns
    have to lie one after the other in memory: those of a [1, ..., time, features], or an image's in the channels-last
    order. Between the state and the concatenation may be reshapes, such as those that make an image of a signal.

    A convolution that computes one column of distant ones reads only these, and becomes one of neighbours.
    """
    for keep in [node for node in graph.nodes if node.op == "keep"]:
        found = _Line.find(graph, keep)
        if found is not None:
            found.replace()


@dataclass(frozen=True)
class _Slice:
    """Columns `first`, `first + step`, ... of a concatenation."""

    first: int
    step: int
    count: int


@dataclass
class _Line:
    graph: Graph
    recall: Node
    keep: Node
    last: Node  # takes the columns that are kept
    views: list[Node]  # reshapes of the old value, and of the one that is kept
    concat: Node
    axis: int
    channels_last: bool

    @staticmethod
    def find(graph: Graph, keep: Node) -> Optional[_Line]:
        last, behind = _reshaped(graph, keep.inputs[0])
        if last is None or last.op != "rearrange" or graph.is_output(last.output):
            return None
        concat = graph.producer(last.inputs[0])
        if concat is None or concat.op != "concat" or len(concat.inputs) != 2 or graph.is_output(concat.output):
            return None
        recall, before = _reshaped(graph, concat.inputs[0])
        if recall is None or recall.op != "recall" or recall.states != keep.states:
            return None
        axis = concat.attrs.axis % len(concat.output.shape)
        line = _Line(graph, recall, keep, last, before + behind, concat, axis, False)
        rows, new = line.rows, line.new
        if new > rows or line.sliced(last) != _Slice(new, 1, rows):
            return None
        # Nothing but the concatenation and slices may read the old value.
        for value in (recall.output, *(node.output for node in before)):
            if graph.is_output(value) or len(graph.consumers(value)) != 1:
                return None
        layout = _outermost(line.old.shape, line.axis)
        if layout is None:
            return None
        line.channels_last = layout is Layout.CHANNELS_LAST
        return line

    @property
    def old(self) -> Value:
        return self.concat.inputs[0]

    @property
    def rows(self) -> int:
        return self.old.shape[self.axis]

    @property
    def new(self) -> int:
        return self.concat.inputs[1].shape[self.axis]

    def sliced(self, node: Node) -> Optional[_Slice]:
        """Returns which columns of the concatenation a `rearrange` takes; None if it takes no whole ones."""
        whole, part = node.inputs[0].shape, node.output.shape
        if node.op != "rearrange" or len(whole) != len(part):
            return None
        if any(a != b for axis, (a, b) in enumerate(zip(whole, part)) if axis != self.axis):
            return None
        count, size = part[self.axis], math.prod(whole[self.axis + 1 :])
        numbers = node.attrs.loops.elements().reshape(part)
        first = int(numbers.flat[0]) // size
        step = (int(np.take(numbers, 1, self.axis).flat[0]) // size - first) if count > 1 else 1
        if step < 1:
            return None
        everything = np.arange(math.prod(whole)).reshape(whole)
        taken = np.take(everything, first + step * np.arange(count), self.axis)
        return _Slice(first, step, count) if np.array_equal(taken, numbers) else None

    def replace(self) -> None:
        graph, x = self.graph, self.concat.inputs[1]
        row_bytes = self.old.nbytes // self.rows
        state = state_of(self.keep.states[0].name, self.old.nbytes)
        initial = self._initial()
        attrs = DelayLineWriteAttrs(self.rows, row_bytes, self.new, self.channels_last)
        write = Node(
            "delay_line_write",
            self.keep.name,
            [x, initial],
            [],
            attrs,
            self.keep.sources,
            self.keep.debug_handles,
            states=[state],
        )
        insert_before(graph, self.keep, write)
        graph.remove([self.keep])
        self._remove_unread()
        for reader in graph.consumers(self.concat.output):
            part = self.sliced(reader) if reader.op == "rearrange" else self._taps(reader)
            whole = reader.op != "rearrange" or part is None
            taken = self._read(part or _Slice(0, 1, self.rows + self.new), reader, state, initial, row_bytes)
            if whole:
                replace_input(reader, self.concat.output, taken)
            elif graph.is_output(reader.output):
                loops = find_loops(np.arange(taken.numel))
                assert loops is not None
                reader.inputs, reader.attrs = [taken], RearrangeAttrs(loops, taken.shape)
            else:
                graph.replace_uses(reader.output, taken)
                graph.remove([reader])
        graph.remove([self.concat])
        self._remove_unread()
        graph.remove([self.recall])

    def _taps(self, node: Node) -> Optional[_Slice]:
        """Returns the columns that a convolution reads for a single one, if others lie between, and makes it one of
        neighbours; None if it reads all, as it does where the line is of channels."""
        if node.op not in ("conv2d", "depthwise_conv2d") or self.axis < 2 or node.output.shape[self.axis] != 1:
            return None
        attrs: ConvAttrs = node.attrs
        along = self.axis - 2
        padding = (attrs.padding.top, attrs.padding.bottom), (attrs.padding.left, attrs.padding.right)
        distance, count = attrs.dilation[along], node.inputs[1].shape[self.axis]
        if any(padding[along]) or distance == 1 or count == 1:
            return None
        dilation = (1, attrs.dilation[1]) if along == 0 else (attrs.dilation[0], 1)
        node.attrs = replace(attrs, dilation=dilation)
        return _Slice(0, distance, count)

    def _remove_unread(self) -> None:
        """Removes what is left of the way from the old value to the one that is kept, from its end."""
        for node in (*reversed(self.views), self.last):
            if not self.graph.consumers(node.output) and not self.graph.is_output(node.output):
                self.graph.remove([node])

    def _initial(self) -> Value:
        """Returns the initial line in the order of its memory."""
        given = self.keep.inputs[-1]
        if given.numel == 1:
            return given
        data = given.constant.reshape(self.old.shape)
        return initial_value(self.old.name, data.transpose(0, 2, 3, 1) if self.channels_last else data)

    def _read(self, part: _Slice, reader: Node, state: Value, initial: Value, row_bytes: int) -> Value:
        """Returns columns of the concatenation, old ones, new ones or both."""
        x = self.concat.inputs[1]
        numbers = [part.first + i * part.step for i in range(part.count)]
        old = [number for number in numbers if number < self.rows]
        new = [number - self.rows for number in numbers if number >= self.rows]
        parts = []
        place = self.concat  # where x is known, in front of whatever reads the columns
        if old:
            shape = self._shape(len(old))
            attrs = DelayLineReadAttrs(shape, self.rows, row_bytes, old[0], part.step, len(old), self.channels_last)
            value = Value(f"{self.old.name}_{old[0]}_{old[-1]}_of_{reader.name}", self.old.type.of(shape=shape))
            read = derived(self.recall, "delay_line_read", [initial], value, attrs)
            read.states = [state]
            insert_before(self.graph, place, read)
            parts.append(value)
        if new:
            parts.append(x if len(new) == self.new else self._new(new, part.step, reader))
        if len(parts) == 1:
            return parts[0]
        joined = Value(f"{self.concat.output.name}_of_{reader.name}", x.type.of(shape=self._shape(part.count)))
        insert_before(self.graph, place, derived(self.concat, "concat", parts, joined, ConcatAttrs(self.axis)))
        return joined

    def _new(self, numbers: list[int], step: int, reader: Node) -> Value:
        x = self.concat.inputs[1]
        shape = self._shape(len(numbers))
        everything = np.arange(x.numel).reshape(x.shape)
        loops = find_loops(np.take(everything, numbers, self.axis).reshape(-1))
        assert loops is not None
        value = Value(f"{x.name}_{numbers[0]}_{numbers[-1]}_of_{reader.name}", x.type.of(shape=shape))
        insert_before(self.graph, self.concat, derived(reader, "rearrange", [x], value, RearrangeAttrs(loops, shape)))
        return value

    def _shape(self, count: int) -> tuple[int, ...]:
        return tuple(count if axis == self.axis else size for axis, size in enumerate(self.old.shape))


def _reshaped(graph: Graph, value: Value) -> tuple[Optional[Node], list[Node]]:
    """Returns what computes the elements of `value`, and the reshapes from there to `value`."""
    views: list[Node] = []
    node = graph.producer(value)
    while node is not None and node.op == "reshape":
        views.insert(0, node)
        node = graph.producer(node.inputs[0])
    return node, views


def _outermost(shape: tuple[int, ...], axis: int) -> Optional[Layout]:
    """Returns the layout in which columns along `axis` lie one after the other; None if there is none."""
    if len(shape) == 4 and axis >= 2 and shape[0] == 1 and math.prod(shape[2:axis]) == 1:
        return Layout.CHANNELS_LAST
    return Layout.ROW_MAJOR if math.prod(shape[:axis]) == 1 else None
