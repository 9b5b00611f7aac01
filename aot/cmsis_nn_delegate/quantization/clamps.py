"""Writes clamps to tensors whose elements are all the same number as clamps to that number, which the kernels have."""

from __future__ import annotations

from typing import Any, Optional

import torch
from torch.fx import GraphModule, Node

from .rewriting import call_for, data_of, finish

aten = torch.ops.aten


def clamps_to_numbers(model: GraphModule) -> None:
    """Rewrites `model` as the module docstring says. Constants are folded already."""
    for node in list(model.graph.nodes):
        if node.target is not aten.clamp.Tensor:
            continue
        source: Any = node.args[0]
        given = [*node.args[1:], None, None][:2]
        tensors = [node.kwargs.get(name, bound) for name, bound in zip(("min", "max"), given)]
        bounds = [_number(model, tensor) for tensor in tensors]
        if any(bound is None for bound, tensor in zip(bounds, tensors) if tensor is not None):
            continue
        value = node.meta["val"]
        if value.shape != source.meta["val"].shape or value.dtype != source.meta["val"].dtype:
            continue  # the bounds broadcast it
        with model.graph.inserting_before(node):
            node.replace_all_uses_with(call_for(node, aten.clamp.default, value, source, *bounds))
    finish(model)


def _number(model: GraphModule, node: Optional[Node]) -> Optional[float]:
    """The number that each element of a constant is."""
    data = data_of(model, node)
    if data is None or data.numel() == 0 or not bool((data == data.reshape(-1)[0]).all()):
        return None
    return float(data.reshape(-1)[0])
