"""Rewrites operators that select the largest or smallest numbers and say where they are, as operators with one result.

The number is an amax or amin, which has a kernel; the place is an argmax or argmin.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from .compositions import replace_by
from .cumulative import running
from .rewriting import arguments_of, call_for, finish

aten = torch.ops.aten

_LARGEST = (aten.amax.default, aten.argmax.default)
_SMALLEST = (aten.amin.default, aten.argmin.default)
# Of everything, and along a dimension with the indices.
_OVER_ALL: dict[Any, Any] = {aten.max.default: aten.amax.default, aten.min.default: aten.amin.default}
_ALONG: dict[Any, Any] = {aten.max.dim: _LARGEST, aten.min.dim: _SMALLEST}
_RUNNING: dict[Any, Any] = {aten.cummax.default: torch.maximum, aten.cummin.default: torch.minimum}


def separate_selections(model: GraphModule) -> None:
    """Rewrites max, min, aminmax and topk(1), and cummax and cummin whose places nothing reads."""
    for node in list(model.graph.nodes):
        if node.op != "call_function":
            continue
        if node.target in _OVER_ALL:
            node.target, node.args = _OVER_ALL[node.target], (node.args[0], [])
            continue
        if node.target in _RUNNING and not any(user.args[1] == 1 and user.users for user in node.users):
            _spell_out_running(node)
            continue
        results = _results(node)
        for getitem in list(node.users) if results else ():
            index: int = getitem.args[1]
            _replace(node, getitem, results[index])
    finish(model)


def _spell_out_running(node: Node) -> None:
    """Computes the numbers of cummax or cummin, whose places nothing reads."""
    source, dim = arguments_of(node)
    combine = _RUNNING[node.target]
    numbers = [user for user in node.users if user.args[1] == 0]
    for getitem in numbers:
        replace_by(getitem, lambda x: running(x, dim, combine), [source])


def _results(node: Node) -> list[tuple[Any, ...]]:
    """Returns the targets and arguments that give each result of `node`, and nothing if it is another operator."""
    if node.target not in (*_ALONG, aten.topk.default, aten.aminmax.default):
        return []
    overload: Any = node.target
    given = {declared.name: value for declared, value in zip(overload._schema.arguments, node.args)}
    given = {declared.name: declared.default_value for declared in overload._schema.arguments} | given | node.kwargs
    source: Any = given["self"]
    if node.target is aten.aminmax.default:
        dims = [] if given["dim"] is None else [given["dim"]]
        return [(target, source, dims, given["keepdim"]) for target in (aten.amin.default, aten.amax.default)]
    if node.target is aten.topk.default:
        if given["k"] != 1 or source.meta["val"].dim() == 0:
            return []
        numbers, places = _LARGEST if given["largest"] else _SMALLEST
        return [(numbers, source, [given["dim"]], True), (places, source, given["dim"], True)]
    numbers, places = _ALONG[node.target]
    return [(numbers, source, [given["dim"]], given["keepdim"]), (places, source, given["dim"], given["keepdim"])]


def _replace(node: Node, getitem: Node, result: tuple[Any, ...]) -> None:
    target, *arguments = result
    with node.graph.inserting_before(node):
        call = call_for(node, target, getitem.meta["val"], *arguments)
    getitem.replace_all_uses_with(call)
