"""Rewrites operators that select the largest or smallest numbers and say where they are, as operators with one result.

The number is an amax or amin, which has a kernel; the place is an argmax or argmin.
"""

from __future__ import annotations

import operator
from typing import Any, Optional

import torch
from torch.fx import GraphModule, Node

from .compositions import replace_by
from .cumulative import running
from .rewriting import arguments_of, call_for, finish
from .sorting import MOST_SORTED, sorted_places

aten = torch.ops.aten

_LARGEST = (aten.amax.default, aten.argmax.default)
_SMALLEST = (aten.amin.default, aten.argmin.default)
# Of everything, and along a dimension with the indices.
_OVER_ALL: dict[Any, Any] = {aten.max.default: aten.amax.default, aten.min.default: aten.amin.default}
_ALONG: dict[Any, Any] = {aten.max.dim: _LARGEST, aten.min.dim: _SMALLEST}
_SORTING = {
    aten.sort.default,
    aten.sort.stable,
    aten.msort.default,
    aten.topk.default,
    aten.median.dim,
    aten.kthvalue.default,
}
_RUNNING: dict[Any, Any] = {aten.cummax.default: torch.maximum, aten.cummin.default: torch.minimum}


def separate_selections(model: GraphModule) -> None:
    """Rewrites max, min, aminmax and topk(1), and of what has places that nothing reads, cummax and cummin, and what
    sorts few numbers."""
    for node in list(model.graph.nodes):
        if node.op != "call_function":
            continue
        if node.target in _OVER_ALL:
            node.target, node.args = _OVER_ALL[node.target], (node.args[0], [])
            continue
        if node.target in _RUNNING and not any(user.args[1] == 1 and user.users for user in node.users):
            _spell_out_running(node)
            continue
        if _spell_out_sorted(node):
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


def _spell_out_sorted(node: Node) -> bool:
    """Sorts what a function chooses from, if that are few numbers and nothing reads where they were. Returns whether it
    does."""
    found = _sorted(node)
    if found is None:
        return False
    source, dim, places, keeps = found

    def numbers(x: torch.Tensor) -> torch.Tensor:
        chosen = sorted_places(x, dim, places)
        return chosen if keeps else chosen.squeeze(dim)

    for reader in [node] if isinstance(node.meta["val"], torch.Tensor) else list(node.users):
        replace_by(reader, numbers, [source])
    return True


def _sorted(node: Node) -> Optional[tuple[Node, int, list[int], bool]]:
    """(source, dimension, places, whether the dimension stays) of the numbers of a function that sorts."""
    if node.target not in _SORTING or node.args[0].meta["val"].dtype != torch.float32:  # type: ignore[union-attr]  # a node
        return None
    if any(user.target is operator.getitem and user.args[1] == 1 and user.users for user in node.users):
        return None
    given = _given(node)
    source = given["self"]
    shape = source.meta["val"].shape
    dim = given.get("dim", 0)
    if not shape or not isinstance(shape[dim], int) or not 1 <= shape[dim] <= MOST_SORTED:
        return None
    size = shape[dim]
    if node.target is aten.topk.default:
        places = list(range(size))[:: -1 if given["largest"] else 1][: given["k"]]
        return (source, dim, places, True) if given["k"] > 1 else None
    if node.target is aten.median.dim:
        return source, dim, [(size - 1) // 2], given["keepdim"]
    if node.target is aten.kthvalue.default:
        return source, dim, [given["k"] - 1], given["keepdim"]
    return source, dim, list(range(size))[:: -1 if given.get("descending") else 1], True


def _given(node: Node) -> dict[str, Any]:
    """Returns the arguments of a call by name, including defaults."""
    overload: Any = node.target
    return dict(zip((declared.name for declared in overload._schema.arguments), arguments_of(node)))


def _results(node: Node) -> list[tuple[Any, ...]]:
    """Returns the targets and arguments that give each result of `node`, and nothing if it is another operator."""
    if node.target not in (*_ALONG, aten.topk.default, aten.aminmax.default):
        return []
    given = _given(node)
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
