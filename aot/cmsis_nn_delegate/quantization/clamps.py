"""Writes clamps to tensors as clamps to numbers, if all elements of a tensor are the same, and as maxima and minima."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Optional

import torch
from torch.fx import GraphModule, Node

from .compositions import replace_by
from .rewriting import call_for, data_of, finish

aten = torch.ops.aten

_ONE_BOUND: dict[Any, Any] = {
    aten.clamp_min.Tensor: aten.maximum.default,
    aten.clamp_max.Tensor: aten.minimum.default,
}


def clamps_to_numbers(model: GraphModule) -> None:
    """Rewrites `model` as the module docstring says. Constants are folded already."""
    for node in list(model.graph.nodes):
        node.target = _ONE_BOUND.get(node.target, node.target)
        if node.target is not aten.clamp.Tensor:
            continue
        source: Any = node.args[0]
        given = [*node.args[1:], None, None][:2]
        tensors = [node.kwargs.get(name, bound) for name, bound in zip(("min", "max"), given)]
        bounds = [_number(model, tensor) for tensor in tensors]
        value = node.meta["val"]
        if value.dtype != torch.float32:
            continue
        numbers = all(bound is not None for bound, tensor in zip(bounds, tensors) if tensor is not None)
        if not numbers or value.shape != source.meta["val"].shape:  # else the bounds broadcast it
            replace_by(node, _between(tensors), [source, *(tensor for tensor in tensors if tensor is not None)])
            continue
        with model.graph.inserting_before(node):
            node.replace_all_uses_with(call_for(node, aten.clamp.default, value, source, *bounds))
    finish(model)


def _between(tensors: Sequence[Any]) -> Callable[..., torch.Tensor]:
    """Returns clamp as a function of the tensor and of the bounds that there are."""

    def between(x: torch.Tensor, *bounds: torch.Tensor) -> torch.Tensor:
        rest = list(bounds)
        x = x if tensors[0] is None else torch.maximum(x, rest.pop(0))
        return x if tensors[1] is None else torch.minimum(x, rest.pop(0))

    return between


def _number(model: GraphModule, node: Optional[Node]) -> Optional[float]:
    """The number that each element of a constant is."""
    data = data_of(model, node)
    if data is None or data.numel() == 0 or not bool((data == data.reshape(-1)[0]).all()):
        return None
    return float(data.reshape(-1)[0])
