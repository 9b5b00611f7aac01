"""Rewrites what is chosen of activations by an index that is an input, or the place of a maximum or minimum:
index_select, x[:, index] and gather.

The index looks rows of a unit matrix up, which a kernel does, and checks. Their product with the activations is what is
chosen: a sum of which one term is not 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Optional

import torch
from torch.fx import GraphModule, Node

from .choices import MOST_WEIGHTS
from .compositions import replace_by
from .rewriting import arguments_of, constant_for, evaluated, finish

aten = torch.ops.aten

# What a look-up reads indices through.
_MOVES = {
    *(aten.view.default, aten.reshape.default, aten.flatten.using_ints, aten.unsqueeze.default),
    *(aten.squeeze.default, aten.squeeze.dim, aten.squeeze.dims, aten.select.int, aten.slice.Tensor),
    *(aten.permute.default, aten.transpose.int, aten.expand.default, aten.to.dtype, aten._to_copy.default),
}


def input_indices_to_products(model: GraphModule) -> None:
    """Rewrites `model` as the module docstring says, but for unit matrices, and rows of them that are looked up, of
    more than `MOST_WEIGHTS` elements."""
    for node in list(model.graph.nodes):
        rewrite: Optional[Callable[[GraphModule, Node], None]] = _REWRITES.get(node.target)
        if node.op == "call_function" and rewrite is not None:
            with model.graph.inserting_before(node):
                rewrite(model, node)
    finish(model)


def _index_select(model: GraphModule, node: Node) -> None:
    source, dim, index = arguments_of(node)
    if index.meta["val"].dim() == 1:
        _choose(model, node, source, dim, index, _selected, _rows)


def _index(model: GraphModule, node: Node) -> None:
    source, given = arguments_of(node)
    found = [dim for dim, index in enumerate(given) if index is not None]
    if len(found) == 1 and given[found[0]].meta["val"].dtype in (torch.int64, torch.int32):
        # Indices may count from the end here.
        _choose(model, node, source, found[0], given[found[0]], _selected, lambda unit, index: unit[index])


def _gather(model: GraphModule, node: Node) -> None:
    source, dim, index, *_ = arguments_of(node)
    if index.meta["val"].dim() == source.meta["val"].dim() > 0:
        _choose(model, node, source, dim, index, _gathered, _rows)


_REWRITES: dict[Any, Any] = {
    aten.index_select.default: _index_select,
    aten.index.Tensor: _index,
    aten.gather.default: _gather,
}


def _choose(
    model: GraphModule,
    node: Node,
    source: Node,
    dim: int,
    index: Node,
    compute: Callable[..., torch.Tensor],
    look_up: Callable[[torch.Tensor, torch.Tensor], torch.Tensor],
) -> None:
    value = source.meta["val"]
    if value.dtype != torch.float32 or not value.dim() or evaluated(model, source) is not None or not _comes_in(index):
        return
    dim %= value.dim()
    size, count = value.shape[dim], index.meta["val"].numel()
    if not all(isinstance(x, int) for x in (*value.shape, count)):
        return
    if not count or max(size, count) * size > MOST_WEIGHTS:
        return
    unit = constant_for(model, node, "unit", torch.eye(size))
    replace_by(node, lambda x, i, u: compute(x, dim, i, lambda j: look_up(u, j)), [source, index, unit])


def _rows(unit: torch.Tensor, index: torch.Tensor) -> torch.Tensor:
    found: torch.Tensor = aten.embedding.default(unit, index)
    return found


def _selected(x: torch.Tensor, dim: int, index: torch.Tensor, look_up: Callable[[Any], torch.Tensor]) -> torch.Tensor:
    """Returns x.index_select(dim, index), with the dimensions of `index` in the place of `dim`."""
    chosen = look_up(index)
    rest = x.movedim(dim, 0)
    product = chosen.reshape(-1, x.shape[dim]) @ rest.reshape(x.shape[dim], -1)
    result = product.reshape(*index.shape, *rest.shape[1:])
    count = index.dim()
    order = [*range(count, count + dim), *range(count), *range(count + dim, result.dim())]
    return result.permute(order) if order != sorted(order) else result


def _gathered(x: torch.Tensor, dim: int, index: torch.Tensor, look_up: Callable[[Any], torch.Tensor]) -> torch.Tensor:
    """Returns x.gather(dim, index)."""
    for other, size in enumerate(index.shape):
        if other != dim and x.shape[other] != size:
            x = x.narrow(other, 0, size)
    last = x.dim() - 1
    chosen = look_up(index)
    if dim != last:
        x, chosen = x.transpose(dim, last), chosen.transpose(dim, last)
    shape = chosen.shape[:-1]
    product = chosen.reshape(-1, *chosen.shape[-2:]) @ x.reshape(-1, x.shape[last], 1)
    result = product.reshape(shape)
    return result.transpose(dim, last) if dim != last else result


def _comes_in(index: Node) -> bool:
    """Returns whether `index` is one of those of the module docstring, perhaps moved."""
    while index.op == "call_function" and index.target in _MOVES:
        index = index.all_input_nodes[0]
    if index.target in (aten.argmax.default, aten.argmin.default):
        return True
    return index.op == "placeholder" and index.meta["val"].dtype in (torch.int64, torch.int32)
