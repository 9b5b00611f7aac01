"""Computes only the rows, columns and steps of activations that something reads, with the same results.

A network that reads the last step of a sequence (`y[:, :, -1]`) needs one step of what leads there through functions of
each step, and of what a convolution reads only as many steps as it has taps: every step of its stride and dilation, if
these have a common divisor. Selections start this (`rearrange`); it ends at the inputs of the graph, and at operators
that read everything. Where several readers need different steps of a value, it keeps those of all of them, with equal
distances, and each copies its own.

The batch, and channels, which `eliminate_channels` removes, stay.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import NamedTuple, Optional

import numpy as np

from ..graph.ir import Graph, Node, Value
from ..ops import channels
from ..ops.attrs import Padding
from ..ops.loops import Loops, find_loops
from ..ops.op import Op
from ..ops.rearrange import RearrangeAttrs
from ..ops.registry import OPS
from ..ops.steps import Steps, Windows
from ..ops.strided_copy import MAX_AXES
from .rewriting import derived

_ELEMENT = 4  # work of an element that is written, next to a multiplication

# Which indices along each dimension of a value.
_Part = tuple[Steps, ...]


class _Windowed(NamedTuple):
    """The attributes of windows that compute a part of their output; pairs are (height, width)."""

    windows: tuple[Windows, Windows]
    after: tuple[int, int]  # padding at the end


def skip_unread(graph: Graph) -> None:
    """Narrows the activations of `graph`, if that saves work, and says so in its notes."""
    plan = _Plan(graph)
    if plan.possible and plan.work_after < plan.work_before:
        before = sum(OPS[node.op].macs(node) for node in graph.nodes)
        plan.apply()
        after = sum(OPS[node.op].macs(node) for node in graph.nodes)
        graph.notes.append(
            f"only what is read is computed of {plan.narrowed} activations; {after:,} of {before:,} multiplications "
            "are left"
        )


class _Plan:
    """What is kept of each activation, and what each node reads of it. `possible` if there is something to leave out;
    work counts multiplications."""

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._kept: dict[int, _Part] = {id(value): _all(value) for value in graph.inputs}
        self._reads: dict[tuple[int, int], _Part] = {}  # by node and number of the input
        self._windows: dict[int, _Windowed] = {}
        self._loops: dict[int, Loops] = {}  # of rearrangements
        self._plan()
        self.narrowed = sum(not _is_whole(self._kept[id(v)], v) for node in graph.nodes for v in node.outputs)
        self.possible = self.narrowed > 0 and self._find_loops()
        self.work_before = sum(_work(node, 1.0) for node in graph.nodes)
        self.work_after = sum(_work(node, self._share(node)) for node in graph.nodes) + self._copied()

    def apply(self) -> None:
        """Changes the graph."""
        parts: dict[tuple[int, _Part], Value] = {}
        nodes: list[Node] = []
        for node in self._graph.nodes:
            reads = list(node.inputs)
            for index, value in enumerate(node.inputs):
                if value.is_constant:
                    reads[index] = self._narrowed_constant(node, value)
                elif self._needs_copy(node, index):
                    part = self._reads[id(node), index]
                    key = id(value), part
                    if key not in parts:
                        nodes.append(self._copy(node, value, part))
                        parts[key] = nodes[-1].output
                    reads[index] = parts[key]
            if id(node) in self._windows:
                _set_windows(node, self._windows[id(node)])
            if id(node) in self._loops:
                node.attrs = RearrangeAttrs(self._loops[id(node)], node.output.shape)
            node.inputs = reads
            nodes.append(node)
        for node in self._graph.nodes:
            for value in node.outputs:
                value.retype(shape=_shape(self._kept[id(value)]))
        for node in nodes:
            if node.op == "rearrange" and node.attrs.loops.is_all_in_order(node.inputs[0].numel):
                node.op, node.attrs = "reshape", None
        self._graph.nodes = nodes

    # ------------------------------------------------------------------------

    def _plan(self) -> None:
        """Goes from the outputs to the inputs."""
        wanted: dict[int, _Part] = {id(value): _all(value) for value in self._graph.outputs}
        for node in reversed(self._graph.nodes):
            for value in node.outputs:
                self._kept[id(value)] = self._can_keep(node, value, wanted.get(id(value), _all(value)))
            for index, value in enumerate(node.inputs):
                if value.is_constant:
                    continue
                part = self._reads[id(node), index] = self._needed(node, index)
                known = wanted.get(id(value))
                wanted[id(value)] = part if known is None else tuple(a.union(b) for a, b in zip(known, part))

    def _can_keep(self, node: Node, value: Value, wanted: _Part) -> _Part:
        """Returns the part of an output that `node` computes: at least what is wanted."""
        op, whole = OPS[node.op], _all(value)
        if len(node.outputs) != 1 or node.states:
            return whole
        if op.window(node) is not None and len(value.shape) == 4:
            part = (*whole[:2], *wanted[2:])
            found = _window_parts(node, part)
            if found is None or _is_whole(part, value):
                return whole
            self._windows[id(node)] = found[1]
            return part
        if node.op == "reshape":
            dims: set[int] = set() if _same_dims(node) is None else set(range(len(value.shape)))
        else:
            dims = set(op.carried(node))
        dims -= {0, channels.axis(value)}
        return tuple(part if dim in dims else all_ for dim, (part, all_) in enumerate(zip(wanted, whole)))

    def _needed(self, node: Node, index: int) -> _Part:
        """Returns the part of an operand that the kept part of the output is computed of."""
        value, whole = node.inputs[index], _all(node.inputs[index])
        if node.op == "rearrange":
            at = np.unravel_index(node.attrs.loops.elements(), value.shape)
            return tuple(
                all_ if dim in (0, channels.axis(value)) else Steps.covering(np.unique(indices).tolist())
                for dim, (indices, all_) in enumerate(zip(at, whole))
            )
        if len(node.outputs) != 1 or _is_whole(self._kept[id(node.output)], node.output):
            return whole
        kept = self._kept[id(node.output)]
        if id(node) in self._windows:
            found = _window_parts(node, kept)
            assert found is not None  # as `_can_keep` found
            return (*whole[:2], *found[0])
        if node.op == "reshape":
            return tuple(whole[a] if b is None else kept[b] for a, b in enumerate(_same_dims(node) or ()))
        return _operand_part(OPS[node.op], node, value, kept)

    def _find_loops(self) -> bool:
        """Finds the loops of all rearrangements that read less. Returns whether the kernel can walk them all."""
        for node in self._graph.nodes:
            if node.op != "rearrange" or _is_whole(self._kept[id(node.inputs[0])], node.inputs[0]):
                continue
            kept = self._kept[id(node.inputs[0])]
            at = np.unravel_index(node.attrs.loops.elements(), node.inputs[0].shape)
            among = [(indices - steps.start) // steps.step for indices, steps in zip(at, kept)]
            loops = find_loops(np.ravel_multi_index(among, _shape(kept)))
            if loops is None or len(loops.sizes) > MAX_AXES:
                return False
            self._loops[id(node)] = loops
        return True

    def _needs_copy(self, node: Node, index: int) -> bool:
        value = node.inputs[index]
        return (
            not value.is_constant and node.op != "rearrange" and self._reads[id(node), index] != self._kept[id(value)]
        )

    def _copy(self, reader: Node, value: Value, part: _Part) -> Node:
        kept = self._kept[id(value)]
        inside = [steps.of(all_).indices() for steps, all_ in zip(part, kept)]
        elements = np.arange(math.prod(_shape(kept))).reshape(_shape(kept))[np.ix_(*inside)].reshape(-1)
        loops = find_loops(elements)
        assert loops is not None  # at most one for each dimension
        name = f"{value.name}_read_by_{reader.name}"
        output = dataclasses.replace(value, name=name, type=value.type.of(shape=_shape(part)))
        return derived(reader, "rearrange", [value], output, RearrangeAttrs(loops, output.shape))

    def _narrowed_constant(self, node: Node, value: Value) -> Value:
        """Returns the part of a constant operand that belongs to the part of the output."""
        kept = self._kept[id(node.output)] if len(node.outputs) == 1 else ()
        if id(node) in self._windows or len(value.shape) != len(kept) or _is_whole(kept, node.output):
            return value
        part = _operand_part(OPS[node.op], node, value, kept)
        if _is_whole(part, value):
            return value
        data = np.ascontiguousarray(value.constant[np.ix_(*(steps.indices() for steps in part))])
        return dataclasses.replace(value, type=value.type.of(shape=data.shape), data=data)

    def _share(self, node: Node) -> float:
        """Returns how much of the output is left."""
        sizes = [(math.prod(_shape(self._kept[id(v)])), v.numel) for v in node.outputs]
        return sum(a for a, _ in sizes) / max(1, sum(b for _, b in sizes))

    def _copied(self) -> float:
        copies = {
            (id(value), self._reads[id(node), index])
            for node in self._graph.nodes
            for index, value in enumerate(node.inputs)
            if self._needs_copy(node, index)
        }
        return sum(_ELEMENT * math.prod(_shape(part)) for _, part in copies)


def _all(value: Value) -> _Part:
    return tuple(Steps.all(size) for size in value.shape)


def _is_whole(part: _Part, value: Value) -> bool:
    return _shape(part) == value.shape


def _shape(part: Sequence[Steps]) -> tuple[int, ...]:
    return tuple(steps.count for steps in part)


def _work(node: Node, share: float) -> float:
    return share * (OPS[node.op].macs(node) + _ELEMENT * sum(value.numel for value in node.outputs))


def _operand_part(op: Op, node: Node, value: Value, kept: _Part) -> _Part:
    """Returns the part of an operand, of the output's rank, of an operator that carries indices."""
    dims = set(op.carried(node))
    whole = _all(value)
    if len(whole) != len(kept):
        return whole
    return tuple(
        part if dim in dims and value.shape[dim] == node.output.shape[dim] else all_
        for dim, (part, all_) in enumerate(zip(kept, whole))
    )


def _same_dims(node: Node) -> Optional[list[Optional[int]]]:
    """Returns, for each dimension of a reshape's input, the same one of its output, or None for one of size 1; None if
    other dimensions than those of size 1 differ."""
    before, after = node.inputs[0].shape, node.output.shape
    rest = [dim for dim, size in enumerate(after) if size != 1]
    if [size for size in before if size != 1] != [after[dim] for dim in rest]:
        return None
    return [None if size == 1 else rest.pop(0) for size in before]


def _window_parts(node: Node, part: _Part) -> Optional[tuple[tuple[Steps, Steps], _Windowed]]:
    """Returns (the height and width that windows read for a part of their output, their attributes); None if some read
    nothing but padding."""
    attrs, shape, kernel = node.attrs, node.inputs[0].shape, OPS[node.op].window(node)
    assert kernel is not None
    before = attrs.padding.top, attrs.padding.left
    found = []
    for axis, steps in enumerate(part[2:]):
        windows = Windows(shape[2 + axis], kernel[axis], attrs.stride[axis], before[axis], attrs.dilation[axis])
        if steps.count == node.output.shape[2 + axis]:
            end = attrs.padding.bottom if axis == 0 else attrs.padding.right
            found.append((Steps.all(windows.size), windows, end))
            continue
        only = windows.only(steps)
        if only is None:
            return None
        found.append(only)
    rows, columns = found
    return (rows[0], columns[0]), _Windowed((rows[1], columns[1]), (rows[2], columns[2]))


def _set_windows(node: Node, windowed: _Windowed) -> None:
    rows, columns = windowed.windows
    node.attrs = dataclasses.replace(
        node.attrs,
        stride=(rows.stride, columns.stride),
        padding=Padding(rows.before, columns.before, *windowed.after),
        dilation=(rows.dilation, columns.dilation),
    )
