"""Puts images into a memory order that their operators take."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Optional

from ..graph.ir import Graph, Node, Value
from ..graph.tensor_type import Layout
from ..ops.attrs import TransposeAttrs
from ..ops.layouts import Layouts
from ..ops.registry import OPS
from .rewriting import derived, insert_after, insert_before, replace_input

_INSISTED = {Layouts.CHANNELS_LAST: Layout.CHANNELS_LAST, Layouts.ROW_MAJOR: Layout.ROW_MAJOR}
_SUFFIX = {Layout.CHANNELS_LAST: "nhwc", Layout.ROW_MAJOR: "nchw"}


def assign_layouts(graph: Graph) -> None:
    """Chooses the layout of each image, an int8 tensor of rank 4, and transposes it for operators that want another.

    What an operator wants, `Op.layouts` says. If it insists on a layout, it writes its result in it. If it wants all
    of its images alike, these form a group with those of its neighbours that do so too; each group takes the layout
    for which fewer bytes are moved, and channels-last if that makes no difference. Graph inputs and outputs keep the
    order that the caller uses. An image is transposed once, however many operators read the result.
    """
    layouts = _Assignment(graph)
    layouts.choose()
    wanted = {id(node): layouts.of_node(node) for node in graph.nodes}
    for node in list(graph.nodes):
        for value in node.outputs:
            layout = wanted[id(node)]
            if layout is not None and _is_image(value) and _differ(value, layout):
                _write_transposed(graph, node, value, layout, wanted)
    for value in graph.activations():
        if _is_image(value):
            for layout in Layout:
                readers = [node for node in graph.consumers(value) if wanted.get(id(node)) is layout]
                if readers and _differ(value, layout):
                    _read_transposed(graph, readers, value, layout)


def _is_image(value: Value) -> bool:
    return len(value.shape) == 4 and value.quant is not None and not value.is_constant


def _differ(value: Value, layout: Layout) -> bool:
    """Returns whether `layout` has another order than `value` lies in: with one channel or one pixel, it never has."""
    _, c, h, w = value.shape
    return layout is not value.layout and c > 1 and h * w > 1


def _write_transposed(
    graph: Graph, node: Node, value: Value, layout: Layout, wanted: dict[int, Optional[Layout]]
) -> None:
    """Makes `node` write graph output `value` in `layout`, from which a transpose gives `value`."""
    inner = Value(f"{value.name}_{_SUFFIX[layout]}", value.type.of(layout=layout))
    for reader in graph.consumers(value):
        if wanted.get(id(reader)) is layout:
            replace_input(reader, value, inner)
    node.replace_output(value, inner)
    transpose = derived(node, "transpose", [inner], value, TransposeAttrs(value.layout))
    insert_after(graph, node, transpose)


def _read_transposed(graph: Graph, readers: list[Node], value: Value, layout: Layout) -> None:
    """Makes `readers` read `value` in `layout`."""
    inner = Value(f"{value.name}_{_SUFFIX[layout]}", value.type.of(layout=layout))
    transpose = derived(readers[0], "transpose", [value], inner, TransposeAttrs(layout))
    transpose.sources, transpose.debug_handles = transpose.sources[:1], transpose.debug_handles[:1]
    insert_before(graph, readers[0], transpose)
    for reader in readers:
        replace_input(reader, value, inner)


@dataclass(eq=False)
class _Group:
    """Images that must have one layout, and the operators that want that."""

    values: list[Value] = field(default_factory=list)
    nodes: list[Node] = field(default_factory=list)
    layout: Layout = Layout.CHANNELS_LAST

    def take(self, layout: Layout) -> None:
        self.layout = layout
        for value in self.values:
            value.retype(layout=layout)


class _Assignment:
    """The layouts of a graph's images while they are chosen."""

    def __init__(self, graph: Graph) -> None:
        self._needs = {
            id(node): OPS[node.op].layouts_of(node)
            for node in graph.nodes
            if any(map(_is_image, (*node.inputs, *node.outputs)))
        }
        self._producers = {id(value): node for node in graph.nodes for value in node.outputs}
        self._readers: dict[int, list[Node]] = {}
        for node in graph.nodes:
            for value in node.inputs:
                self._readers.setdefault(id(value), []).append(node)
        self._outputs = {id(value) for value in graph.outputs}
        self._groups: dict[int, _Group] = {}  # by node or image
        border = {id(value) for value in (*graph.inputs, *graph.outputs)}
        for node in graph.nodes:
            need = self._needs.get(id(node))
            written = [value for value in node.outputs if _is_image(value) and id(value) not in border]
            if need is Layouts.SAME:
                self._join(node, written)
            elif need is Layouts.ANY:
                self._groups.update((id(value), _Group([value])) for value in written)
            elif need is not None:
                for value in written:
                    value.retype(layout=_INSISTED[need])

    def of_node(self, node: Node) -> Optional[Layout]:
        """Returns the layout that all images of `node` must have; None if each may have its own."""
        need = self._needs.get(id(node), Layouts.ANY)
        return self._groups[id(node)].layout if need is Layouts.SAME else _INSISTED.get(need)

    def choose(self) -> None:
        """Gives every group the layout that costs least, given the others, until none changes. Where it would only move
        a copy, it changes together with the groups beyond."""
        groups = list(dict.fromkeys(self._groups.values()))
        for group in groups:
            group.take(group.layout)
        while any([self._improve([group]) or self._improve(self._linked(group)) for group in groups]):
            pass

    def _join(self, node: Node, written: list[Value]) -> None:
        """Makes one group of `node`, the images that it writes, and the groups of those that it reads."""
        before = dict.fromkeys(self._groups[id(value)] for value in node.inputs if id(value) in self._groups)
        group = _Group(
            [*(value for other in before for value in other.values), *written],
            [*(member for other in before for member in other.nodes), node],
        )
        self._groups.update((id(member), group) for member in (*group.values, *group.nodes))

    def _linked(self, group: _Group) -> list[_Group]:
        """Returns `group` and the groups of its layout that operators of `Layouts.ANY` link with it."""
        found = [group]
        for member in found:
            for node in self._movers(member.values):
                groups = (self._groups.get(id(value)) for value in (*node.inputs, *node.outputs))
                found += [other for other in groups if other and other not in found and other.layout is group.layout]
        return found

    def _improve(self, groups: list[_Group]) -> bool:
        """Gives groups of one layout the other one if that costs less. Returns whether it does."""
        layout, cost = groups[0].layout, self._cost(groups)
        other = next(other for other in Layout if other is not layout)
        for group in groups:
            group.take(other)
        if self._cost(groups) < cost:
            return True
        for group in groups:
            group.take(layout)
        return False

    def _cost(self, groups: list[_Group]) -> int:
        """Returns how many bytes are moved around the members of `groups` because of their layout."""
        around = [value for group in groups for node in group.nodes for value in (*node.inputs, *node.outputs)]
        own = [value for group in groups for value in group.values]
        values = list({id(value): value for value in (*own, *filter(_is_image, around))}.values())
        moved = sum(OPS[node.op].moved_bytes(node) for node in self._movers(values))
        return moved + sum(map(self._transposed_bytes, values))

    def _movers(self, values: Iterable[Value]) -> list[Node]:
        """Returns the operators of `Layouts.ANY` that read or write `values`."""
        found: dict[int, Node] = {}
        for value in values:
            for node in (*self._readers.get(id(value), ()), self._producers.get(id(value))):
                if node is not None and self._needs[id(node)] is Layouts.ANY:
                    found[id(node)] = node
        return list(found.values())

    def _transposed_bytes(self, value: Value) -> int:
        """Returns the size of all transposes of `value`."""
        producer = self._producers.get(id(value))
        written = value.layout if producer is None else self.of_node(producer) or value.layout
        wanted = {self.of_node(reader) for reader in self._readers.get(id(value), ())}
        if id(value) in self._outputs:
            wanted.add(value.layout)
        lying = Value(value.name, value.type.of(layout=written))
        return value.nbytes * sum(layout is not None and _differ(lying, layout) for layout in wanted)
