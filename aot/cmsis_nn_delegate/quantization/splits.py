"""Rewrites operators that move values and read or return several tensors as operators with one of each."""

from __future__ import annotations

import operator

import torch
from torch.fx import GraphModule, Node

from .rewriting import finish

aten = torch.ops.aten

# The parts follow each other along one dimension.
_SPLITS = frozenset(
    {
        aten.split.Tensor,
        aten.split.sizes,
        aten.split_with_sizes.default,
        aten.chunk.default,
        aten.tensor_split.sections,
        aten.tensor_split.indices,
        aten.hsplit.int,
        aten.hsplit.array,
        aten.vsplit.int,
        aten.vsplit.array,
        aten.dsplit.int,
        aten.dsplit.array,
        aten.unsafe_split.Tensor,
        aten.unsafe_split_with_sizes.default,
        aten.unsafe_chunk.default,
    }
)


def separate_parts(model: GraphModule) -> None:
    """Turns split, chunk, unbind and the like into slices and selects, because a list of tensors cannot be quantized,
    and expand_as into expand, which does not read the tensor that has the shape."""
    graph = model.graph
    for node in list(graph.nodes):
        if node.target is aten.expand_as.default:
            node.target, node.args = aten.expand.default, (node.args[0], list(node.meta["val"].shape))
        if node.op != "call_function" or not (node.target in _SPLITS or node.target is aten.unbind.int):
            continue
        if any(user.target is not operator.getitem for user in node.users):
            continue  # returned as a list
        for getitem in list(node.users):
            _slice(node, getitem)
        graph.erase_node(node)
    finish(model)


def _slice(split: Node, getitem: Node) -> None:
    """Makes the readers of one result read a slice or select instead."""
    source: Node = split.args[0]  # type: ignore[assignment] # torch.fx has a union of all arguments
    index: int = getitem.args[1]  # type: ignore[assignment] # the same
    shape, parts = source.meta["val"].shape, [part.shape for part in split.meta["val"]]
    graph = split.graph
    with graph.inserting_before(getitem):
        if split.target is aten.unbind.int:
            dim = split.args[1] if len(split.args) > 1 else split.kwargs.get("dim", 0)
            part = graph.call_function(aten.select.int, (source, dim, index))
        else:
            # A single part is the whole tensor: then any dimension will do.
            dim = next((d for d, size in enumerate(shape) if parts[0][d] != size), 0)
            start = sum(part[dim] for part in parts[:index])
            part = graph.call_function(aten.slice.Tensor, (source, dim, start, start + parts[index][dim]))
    part.meta = {**split.meta, **getitem.meta}
    getitem.replace_all_uses_with(part)
    graph.erase_node(getitem)
