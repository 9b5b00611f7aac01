"""Rewrites what is chosen of activations, or written into them, by indices that are constant: index_select, gather,
x[:, indices], index_copy, x[:, indices] = y, scatter and the like. `choices` has what they become.

Indices of constant tables stay, and so do those that an inference computes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Optional

import torch
from torch.fx import GraphModule, Node
from torch.nn import functional as F

from .choices import MOST_WEIGHTS, along, can_choose, can_place, chosen, flat_index, matrix_of, placed, product
from .compositions import replace_by
from .rewriting import arguments_of, constant_for, evaluated, finish

aten = torch.ops.aten


def constant_indices_to_parts(model: GraphModule) -> None:
    """Rewrites `model` as the module docstring says."""
    for node in list(model.graph.nodes):
        rewrite: Optional[Callable[[GraphModule, Node], None]] = _REWRITES.get(node.target)
        if node.op != "call_function" or rewrite is None or not _is_of_activations(model, node):
            continue
        with model.graph.inserting_before(node):
            rewrite(model, node)
    finish(model)


def _is_of_activations(model: GraphModule, node: Node) -> bool:
    source: Any = node.args[0]
    for value in (node.meta.get("val"), source.meta.get("val")):
        if not isinstance(value, torch.Tensor) or value.dtype != torch.float32 or not value.dim():
            return False
        if not all(isinstance(size, int) for size in value.shape):
            return False
    return evaluated(model, source) is None


# Choosing -------------------------------------------------------------------


def _choose(model: GraphModule, node: Node, dim: int, indices: list[int], before: Any, after: Any) -> None:
    """Replaces `node` by the elements `indices` along `dim` of what the function `before` makes of its first argument,
    in the form that `after` gives them."""
    source: Any = node.args[0]
    size = before(source.meta["val"]).shape[dim]
    if not can_choose(size, indices):
        return
    matrix = matrix_of(size, indices)
    sources = [source] if matrix is None else [source, constant_for(model, node, "choice", matrix)]
    replace_by(node, lambda x, *choice: after(chosen(before(x), dim, indices, *choice)), sources)


def _as_it_is(x: Any) -> Any:
    return x


def _index_select(model: GraphModule, node: Node) -> None:
    source, dim, index = arguments_of(node)
    data = evaluated(model, index)
    if data is not None:
        dim %= _rank(source)
        _choose(model, node, dim, data.reshape(-1).tolist(), _as_it_is, _as_it_is)


def _gather(model: GraphModule, node: Node) -> None:
    source, dim, index, *_ = arguments_of(node)
    data = evaluated(model, index)
    if data is not None and data.dim() == _rank(source):
        _gather_at(model, node, dim, data)


def _take_along_dim(model: GraphModule, node: Node) -> None:
    source, index, dim = arguments_of(node)
    data = evaluated(model, index)
    if data is None:
        return
    if dim is None:
        _take_at(model, node, data)
        return
    dim %= _rank(source)
    others = [1 if i == dim else size for i, size in enumerate(source.meta["val"].shape)]
    index = data + torch.zeros(others, dtype=data.dtype)
    if [1 if i == dim else size for i, size in enumerate(index.shape)] == others:  # else the source is broadcast
        _gather_at(model, node, dim, index)


def _gather_at(model: GraphModule, node: Node, dim: int, index: torch.Tensor) -> None:
    source: Any = node.args[0]
    value = source.meta["val"]
    dim %= value.dim()
    shape = list(index.shape)
    indices = along(index, dim)
    others = [size for i, size in enumerate(shape) if i != dim]
    if indices is not None and others == [size for i, size in enumerate(value.shape) if i != dim]:
        _choose(model, node, dim, indices, _as_it_is, _as_it_is)
        return
    places = torch.arange(value.numel()).reshape(value.shape).gather(dim, index)
    _choose(model, node, 0, places.reshape(-1).tolist(), _flat, lambda y: y.reshape(shape))


def _take(model: GraphModule, node: Node) -> None:
    _, index = arguments_of(node)
    data = evaluated(model, index)
    if data is not None:
        _take_at(model, node, data)


def _take_at(model: GraphModule, node: Node, index: torch.Tensor) -> None:
    source: Any = node.args[0]
    places = flat_index([source.meta["val"].numel()], [index])
    shape = list(index.shape)
    _choose(model, node, 0, places.reshape(-1).tolist(), _flat, lambda y: y.reshape(shape))


def _index(model: GraphModule, node: Node) -> None:
    source, given = arguments_of(node)
    where = _Indexed.of(model, source, given)
    if where is not None:
        _choose(model, node, where.dim, where.indices, where.with_one_dimension, where.with_dimensions)


class _Indexed(NamedTuple):
    """x[..., a, b, ...], where a, b, ... are constant: in `order` of dimensions, the `dims` indexed ones begin at
    `dim`; `indices` count their elements together, and `shape` is that of a, b, ... .

    A mask among them stands for the places where it is true. Only writes have masks here: what is read through one has
    a size that torch.export does not know."""

    order: list[int]
    dim: int
    dims: int
    indices: list[int]
    shape: list[int]

    @classmethod
    def of(cls, model: GraphModule, source: Node, given: Sequence[Any]) -> Optional[_Indexed]:
        value = source.meta["val"]
        found: dict[int, torch.Tensor] = {}
        dim = 0
        for index in given:
            if index is None:
                dim += 1
                continue
            data = evaluated(model, index)
            if data is None or not data.numel():
                return None
            parts = list(data.nonzero().unbind(1)) if data.dtype in (torch.bool, torch.uint8) else [data]
            found.update({dim + i: part for i, part in enumerate(parts)})
            dim += len(parts)
        dims = sorted(found)
        if not dims:
            return None
        rest = [i for i in range(value.dim()) if i not in found]
        together = dims == list(range(dims[0], dims[0] + len(dims)))
        first = dims[0] if together else 0
        order = rest[:first] + dims + rest[first:]
        index = flat_index([value.shape[i] for i in dims], [found[i] for i in dims])
        return cls(order, first, len(dims), index.reshape(-1).tolist(), list(index.shape))

    def with_one_dimension(self, x: Any) -> Any:
        """Returns `x` with one dimension in the place of the indexed ones."""
        if self.order != sorted(self.order):
            x = x.permute(self.order)
        return x.flatten(self.dim, self.dim + self.dims - 1) if self.dims > 1 else x

    def with_dimensions(self, y: Any) -> Any:
        """Returns `y`, which has one dimension of all indices, with the dimensions of the indices."""
        if len(self.shape) == 1:
            return y
        return y.reshape(*y.shape[: self.dim], *self.shape, *y.shape[self.dim + 1 :])


# Writing --------------------------------------------------------------------


def _place(model: GraphModule, node: Node, written: Node, dim: int, indices: list[int], x_of: Any, y_of: Any) -> None:
    """Replaces `node` by its first argument, after `x_of`, with what `y_of` makes of `written` at `indices`."""
    source: Any = node.args[0]
    size = x_of(source.meta["val"]).shape[dim]
    shape = list(node.meta["val"].shape)
    data = evaluated(model, written)
    if data is not None and not bool(data.isfinite().all()):
        return  # no number of the scale that all parts would share
    if can_place(size, indices):
        replace_by(node, lambda x, y: placed(x_of(x), dim, indices, y_of(y)).reshape(shape), [source, written])
    elif data is not None and data.numel() == 1:
        hidden = torch.zeros(x_of(source.meta["val"]).shape[dim], dtype=torch.bool)
        hidden[indices] = True
        rank = x_of(source.meta["val"]).dim()
        mask = hidden.reshape([-1 if i == dim else 1 for i in range(rank)])
        held = constant_for(model, node, "written", mask)
        replace_by(
            node,
            lambda x, y, m: torch.where(m, y.reshape(()), x_of(x)).reshape(shape),
            [source, written, held],
        )


def _add(model: GraphModule, node: Node, added: Node, dim: int, indices: list[int], x_of: Any, y_of: Any) -> None:
    """Replaces `node` by its first argument with what `y_of` makes of `added` added at `indices`."""
    source: Any = node.args[0]
    size = x_of(source.meta["val"]).shape[dim]
    shape = list(node.meta["val"].shape)
    if size * len(indices) > MOST_WEIGHTS:
        return
    matrix = constant_for(model, node, "places", F.one_hot(torch.tensor(indices), size).float().T.contiguous())

    def summed(x: Any, y: Any, m: Any) -> Any:
        sums = product(y_of(y).movedim(dim, -1), m).movedim(-1, dim)
        return (x_of(x) + sums).reshape(shape)

    replace_by(node, summed, [source, added, matrix])


def _index_copy(model: GraphModule, node: Node) -> None:
    source, dim, index, written = arguments_of(node)
    data = evaluated(model, index)
    if data is not None:
        _place(model, node, written, dim % _rank(source), data.reshape(-1).tolist(), _as_it_is, _as_it_is)


def _index_add(model: GraphModule, node: Node) -> None:
    source, dim, index, added = arguments_of(node)[:4]
    alpha = node.kwargs.get("alpha", 1)
    data = evaluated(model, index)
    if data is not None:
        indices = data.reshape(-1).tolist()
        _add(model, node, added, dim % _rank(source), indices, _as_it_is, lambda y: y * alpha if alpha != 1 else y)


def _index_fill(model: GraphModule, node: Node) -> None:
    source, dim, index, value = arguments_of(node)
    data = evaluated(model, index)
    if data is None:
        return
    dim %= _rank(source)
    shape = list(source.meta["val"].shape)
    shape[dim] = data.numel()
    indices = [index % source.meta["val"].shape[dim] for index in data.reshape(-1).tolist()]  # may count from the end
    written = value if isinstance(value, Node) else constant_for(model, node, "value", torch.tensor(float(value)))
    _place(model, node, written, dim, indices, _as_it_is, lambda y: y.expand(shape))


def _index_put(model: GraphModule, node: Node) -> None:
    source, given, written, accumulate = arguments_of(node)
    if len(given) == 1 and _is_computed_mask(model, given[0]) and not accumulate:
        _put_where(node, source, given[0], written)
        return
    where = _Indexed.of(model, source, given)
    if where is None or where.order != sorted(where.order):
        return
    value = source.meta["val"]
    last = where.dim + where.dims
    shape = [*value.shape[: where.dim], *where.shape, *value.shape[last:]]
    flat = [*value.shape[: where.dim], len(where.indices), *value.shape[last:]]
    put = _add if accumulate else _place
    put(
        model,
        node,
        written,
        where.dim,
        where.indices,
        where.with_one_dimension,
        lambda y: y.expand(shape).reshape(flat),
    )


def _is_computed_mask(model: GraphModule, index: Any) -> bool:
    return isinstance(index, Node) and index.meta["val"].dtype == torch.bool and evaluated(model, index) is None


def _put_where(node: Node, source: Node, mask: Node, written: Node) -> None:
    """x[mask] = number."""
    if written.meta["val"].numel() != 1:
        return
    rank = _rank(source) - _rank(mask)
    replace_by(
        node,
        lambda x, m, y: torch.where(m[(...,) + (None,) * rank] if rank else m, y.reshape(()), x),
        [source, mask, written],
    )


def _scatter(model: GraphModule, node: Node) -> None:
    source, dim, index, written = arguments_of(node)[:4]
    data = evaluated(model, index)
    if data is None or data.dim() != _rank(source):
        return
    if not isinstance(written, Node):
        shape = list(data.shape)
        written = constant_for(model, node, "value", torch.tensor(float(written)))
    else:
        shape = []
    _scatter_at(model, node, written, dim, data, shape, _place)


def _scatter_add(model: GraphModule, node: Node) -> None:
    source, dim, index, added = arguments_of(node)
    data = evaluated(model, index)
    if data is not None and data.dim() == _rank(source):
        _scatter_at(model, node, added, dim, data, [], _add)


def _scatter_at(
    model: GraphModule, node: Node, written: Node, dim: int, index: torch.Tensor, shape: list[int], put: Any
) -> None:
    """`shape` is that of `index` if `written` is a number."""
    source: Any = node.args[0]
    value = source.meta["val"]
    dim %= value.dim()
    indices = along(index, dim)
    others = [size for i, size in enumerate(index.shape) if i != dim]

    def part(y: Any) -> Any:
        if shape:
            return y.expand(shape)
        for i, size in enumerate(index.shape):
            y = y.narrow(i, 0, size) if y.shape[i] != size else y
        return y

    if indices is not None and others == [size for i, size in enumerate(value.shape) if i != dim]:
        put(model, node, written, dim, indices, _as_it_is, part)
        return
    places = torch.arange(value.numel()).reshape(value.shape).gather(dim, index).reshape(-1).tolist()
    put(model, node, written, 0, places, _flat, lambda y: part(y).reshape(-1))


def _diagonal_scatter(model: GraphModule, node: Node) -> None:
    source, written, offset, dim1, dim2 = arguments_of(node)
    value = source.meta["val"]
    places = torch.arange(value.numel()).reshape(value.shape).diagonal(offset, dim1, dim2)
    _place(model, node, written, 0, places.reshape(-1).tolist(), _flat, _flat)


def _put(model: GraphModule, node: Node) -> None:
    source, index, written, accumulate = arguments_of(node)
    data = evaluated(model, index)
    if data is not None:
        places = flat_index([source.meta["val"].numel()], [data]).reshape(-1).tolist()
        (_add if accumulate else _place)(model, node, written, 0, places, _flat, _flat)


def _masked_scatter(model: GraphModule, node: Node) -> None:
    source, mask, written = arguments_of(node)
    data = evaluated(model, mask)
    if data is not None and node.meta["val"].shape == source.meta["val"].shape:  # else the source is broadcast
        places = data.expand(source.meta["val"].shape).reshape(-1).nonzero().reshape(-1).tolist()
        _place(model, node, written, 0, places, _flat, lambda y: y.reshape(-1)[: len(places)])


def _flat(x: Any) -> Any:
    return x.reshape(-1)


def _rank(node: Node) -> int:
    rank: int = node.meta["val"].dim()
    return rank


_REWRITES: dict[Any, Callable[[GraphModule, Node], None]] = {
    aten.index_select.default: _index_select,
    aten.gather.default: _gather,
    aten.take_along_dim.default: _take_along_dim,
    aten.take.default: _take,
    aten.index.Tensor: _index,
    aten.index_copy.default: _index_copy,
    aten.index_add.default: _index_add,
    aten.index_fill.int_Scalar: _index_fill,
    aten.index_fill.int_Tensor: _index_fill,
    aten.index_put.default: _index_put,
    aten.scatter.src: _scatter,
    aten.scatter.value: _scatter,
    aten.scatter_add.default: _scatter_add,
    aten.diagonal_scatter.default: _diagonal_scatter,
    aten.put.default: _put,
    aten.masked_scatter.default: _masked_scatter,
}
