"""Turns writes into a part of a tensor (`y[:, :2] = 0`) into concatenations of what stays and what is written.

`in_place` makes slice_scatter and the like of them. A concatenation has one scale for all of its parts, and no call
where they can be computed in place.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from .rewriting import arguments_of, call_for, constant_for, evaluated, finish

aten = torch.ops.aten

_MOST_PARTS = 12  # that one concatenation takes


def scatters_to_concats(model: GraphModule) -> None:
    """Rewrites writes that follow each other with one distance, and what fills a part with one number."""
    for node in list(model.graph.nodes):
        if node.target in (aten.copy.default, aten.fill.Tensor):
            _to_source(model, node)
        elif node.target is aten.fill.Scalar and not isinstance(node.args[1], Node):
            number: Any = node.args[1]
            _to_constant(model, node, torch.tensor(number))
        elif node.target is aten.select_scatter.default:
            _scatter(node, *_selected(node))
        elif node.target is aten.slice_scatter.default:
            _scatter(node, *_sliced(node))
    finish(model)


def _to_source(model: GraphModule, node: Node) -> None:
    """copy or fill(destination, source) has the values of the source, and the shape and type of the destination."""
    destination, source = node.args[:2]
    value, data = _value(destination), evaluated(model, source)
    if data is not None:
        _to_constant(model, node, data)
        return
    if not isinstance(source, Node) or _value(source).dtype != value.dtype:
        return
    if _value(source).shape != value.shape:
        shape = list(value.shape)
        with node.graph.inserting_before(node):
            source = call_for(node, aten.expand.default, _value(source).expand(shape), source, shape)
    node.replace_all_uses_with(source)


def _to_constant(model: GraphModule, node: Node, data: torch.Tensor) -> None:
    value = _value(node)
    data = data.to(value.dtype).expand(value.shape).contiguous().clone()
    with node.graph.inserting_before(node):
        constant = constant_for(model, node, "value", data)
    node.replace_all_uses_with(constant)


def _selected(node: Node) -> tuple[Node, int, list[int]]:
    """Returns (what is written, dimension, indices) of a select_scatter."""
    target, source, dim, index = arguments_of(node)
    dim %= _value(node).dim()
    with node.graph.inserting_before(node):
        written = call_for(node, aten.unsqueeze.default, _value(source).unsqueeze(dim), source, dim)
    return written, dim, [index % _value(node).shape[dim]]


def _sliced(node: Node) -> tuple[Node, int, list[int]]:
    """Returns (what is written, dimension, indices) of a slice_scatter."""
    target, source, dim, start, end, step = arguments_of(node)
    dim %= _value(node).dim()
    return source, dim, list(range(_value(node).shape[dim]))[slice(start, end, step)]


def _scatter(node: Node, source: Node, dim: int, indices: list[int]) -> None:
    target: Any = node.args[0]
    size = _value(node).shape[dim]
    if not indices:
        node.replace_all_uses_with(target)
        return
    if len(indices) == size:
        node.replace_all_uses_with(source)
        return
    # In runs of neighbours: (from what, first, last + 1).
    runs: list[tuple[Node, int, int]] = []
    places = {index: place for place, index in enumerate(indices)}
    for index in range(size):
        origin, place = (source, places[index]) if index in places else (target, index)
        if runs and runs[-1][0] is origin and runs[-1][2] == place:
            runs[-1] = origin, runs[-1][1], place + 1
        else:
            runs.append((origin, place, place + 1))
    if len(runs) > _MOST_PARTS:
        return
    with node.graph.inserting_before(node):
        parts = [_part(node, *run, dim) for run in runs]
        result = call_for(node, aten.cat.default, _value(node), parts, dim)
    node.replace_all_uses_with(result)


def _part(node: Node, origin: Node, begin: int, end: int, dim: int) -> Node:
    value = _value(origin)
    if (begin, end) == (0, value.shape[dim]):
        return origin
    return call_for(node, aten.slice.Tensor, value.narrow(dim, begin, end - begin), origin, dim, begin, end)


def _value(node: Any) -> torch.Tensor:
    value: torch.Tensor = node.meta["val"]
    return value
