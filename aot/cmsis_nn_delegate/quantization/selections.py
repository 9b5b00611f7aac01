"""Rewrites operators that select the largest or smallest numbers and say where they are, as operators with one result.

The number is an amax or amin, which has a kernel; the place is an argmax or argmin. What sorts, or selects several,
becomes `topk_values` and `topk_indices` (`edge.selection_ops`).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Optional

import torch
from torch.fx import GraphModule, Node

from ..edge.selection_ops import TOPK_INDICES, TOPK_VALUES
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
_PLACES = {aten.argsort.default, aten.argsort.stable}
_SORTING = {
    *_PLACES,
    aten.sort.default,
    aten.sort.stable,
    aten.msort.default,
    aten.topk.default,
    aten.median.default,
    aten.median.dim,
    aten.kthvalue.default,
}
_RUNNING: dict[Any, Any] = {aten.cummax.default: torch.maximum, aten.cummin.default: torch.minimum}


def separate_selections(model: GraphModule) -> None:
    """Rewrites max, min, aminmax, topk, what sorts, and, if nothing reads their places, cummax and cummin."""
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


@dataclass(frozen=True)
class _Chosen:
    """`count` numbers of `source`, sorted along `dim`, from the place `first` on; `keeps` says whether they have that
    dimension. Without `dim`, of all numbers of `source`."""

    source: Node
    dim: Optional[int]
    largest: bool
    first: int
    count: int
    keeps: bool = True

    def of(self, x: torch.Tensor, result: int) -> torch.Tensor:
        """Returns the numbers, or the indices if `result` is 1."""
        x, dim = self._line(x)
        largest, first = self.largest, self.first
        if not result and self.count == 1 and first > self.size() // 2:  # nearer to the other end
            largest, first = not largest, self.size() - 1 - first
        select = TOPK_INDICES if result else TOPK_VALUES
        return self._kept(select(x, first + self.count, dim, largest), first)

    def of_few(self, x: torch.Tensor) -> torch.Tensor:
        """Returns the numbers without a kernel for it."""
        x, dim = self._line(x)
        size = x.shape[dim]
        places = range(self.first, self.first + self.count)
        return self._kept(sorted_places(x, dim, [size - 1 - p if self.largest else p for p in places]), 0)

    def size(self) -> int:
        """Returns how many numbers are sorted."""
        value: torch.Tensor = self.source.meta["val"]
        return int(value.numel() if self.dim is None else value.shape[self.dim])

    def _line(self, x: torch.Tensor) -> tuple[torch.Tensor, int]:
        return (x.reshape(-1), 0) if self.dim is None else (x, self.dim)

    def _kept(self, numbers: torch.Tensor, first: int) -> torch.Tensor:
        dim = self.dim or 0
        found = numbers if numbers.shape[dim] == self.count else numbers.narrow(dim, first, self.count)
        return found if self.keeps else found.squeeze(dim)


def _spell_out_sorted(node: Node) -> bool:
    """Computes the numbers and the indices of a function that sorts by a kernel each, but few numbers alone by minima
    and maxima. Returns whether it does."""
    chosen = _chosen(node)
    if chosen is None:
        return False
    readers: list[tuple[Node, Any]]
    if isinstance(node.meta["val"], torch.Tensor):
        readers = [(node, int(node.target in _PLACES))]
    else:
        readers = [(user, user.args[1]) for user in node.users if user.users]
    few = chosen.size() <= MOST_SORTED and all(result == 0 for _, result in readers)
    for reader, result in readers:
        replace_by(reader, _computing(chosen, few, result), [chosen.source])
    return True


def _computing(chosen: _Chosen, few: bool, result: int) -> Callable[[torch.Tensor], torch.Tensor]:
    return lambda x: chosen.of_few(x) if few else chosen.of(x, result)


def _chosen(node: Node) -> Optional[_Chosen]:
    """Returns what a function that sorts chooses; None for other functions, a topk of one number, scalars, and tensors
    that are not of float32, have no elements or no fixed shape."""
    if node.target not in _SORTING or node.args[0].meta["val"].dtype != torch.float32:  # type: ignore[union-attr]  # a node
        return None
    given = _given(node)
    source: Node = given["self"]
    shape = source.meta["val"].shape
    dim = None if node.target is aten.median.default else given.get("dim", 0)
    if not shape or not all(isinstance(size, int) and size > 0 for size in shape):
        return None
    if dim is None:
        return _Chosen(source, None, False, (shape.numel() - 1) // 2, 1, keeps=False)
    size = shape[dim]
    if node.target is aten.topk.default:
        return _Chosen(source, dim, given["largest"], 0, given["k"]) if given["k"] > 1 else None
    if node.target is aten.median.dim:
        return _Chosen(source, dim, False, (size - 1) // 2, 1, given["keepdim"])
    if node.target is aten.kthvalue.default:
        return _Chosen(source, dim, False, given["k"] - 1, 1, given["keepdim"])
    return _Chosen(source, dim, bool(given.get("descending")), 0, size)


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
