"""Turns writes into a part of a tensor (`y[:, :2] = 0`) into concatenations of what stays and what is written.

`in_place` makes slice_scatter and the like of them. A concatenation has one scale for all of its parts, and no call
where they can be computed in place.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from .choices import can_place, placed
from .compositions import replace_by
from .rewriting import arguments_of, call_for, constant_for, evaluated, finish

aten = torch.ops.aten


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
    if not indices:
        node.replace_all_uses_with(target)
    elif can_place(_value(node).shape[dim], indices):
        replace_by(node, lambda x, y: placed(x, dim, indices, y), [target, source])


def _value(node: Any) -> torch.Tensor:
    value: torch.Tensor = node.meta["val"]
    return value
