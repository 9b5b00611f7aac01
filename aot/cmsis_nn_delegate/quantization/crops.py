"""Makes convolutions compute no pixels that are cut off again: causal networks pad both ends and crop the result.

`conv(x, padding=p)[..., :-p]` becomes a convolution after a pad at the beginning alone, which costs nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import torch
from torch.fx import GraphModule, Node

from .rewriting import call_for, finish

aten = torch.ops.aten


def crops_to_padding(model: GraphModule) -> None:
    """Rewrites each convolution that a slice of its height or width alone reads, where that only means less padding."""
    for node in list(model.graph.nodes):
        if node.op == "call_function" and node.target is aten.slice.Tensor:
            _rewrite(node)
    finish(model)


def _rewrite(crop: Node) -> None:
    layer: Any = crop.args[0]
    if layer.op != "call_function" or layer.target is not aten.conv2d.default or len(layer.users) != 1:
        return
    found = _slice(crop)
    if found is None:
        return
    dim, start, count = found
    source, weight, bias, stride, padding, dilation, groups = _arguments(layer)
    axis = dim - 2
    size, taps = source.meta["val"].shape[dim], weight.meta["val"].shape[dim]
    before = padding[axis] - start * stride[axis]
    after = (count - 1) * stride[axis] + (taps - 1) * dilation[axis] + 1 - size - before
    if before < 0 or after < 0:
        return  # it would have to read a part of its input
    amounts = [0, 0, 0, 0]
    amounts[2 * (3 - dim) : 2 * (3 - dim) + 2] = [before, after]
    padding[axis] = 0
    graph = layer.graph
    with graph.inserting_before(layer):
        padded = aten.constant_pad_nd.default(source.meta["val"], amounts)
        pad = call_for(layer, aten.constant_pad_nd.default, padded, source, amounts, 0.0)
    layer.args = (pad, weight, bias, stride, padding, dilation, groups)
    layer.kwargs = {}
    layer.meta["val"] = crop.meta["val"]
    crop.replace_all_uses_with(layer)
    graph.erase_node(crop)


def _slice(crop: Node) -> Optional[tuple[int, int, int]]:
    """(dimension, first index, count) of a slice of height or width without gaps."""
    value = crop.meta["val"]
    if value.dim() != 4:
        return None
    arguments: tuple[Any, ...] = (*crop.args, *(None, 0, None, None, 1)[len(crop.args) :])
    source, dim, start, end, step = arguments
    if step != 1 or not all(isinstance(x, int) or x is None for x in (dim, start, end)):
        return None
    dim %= 4
    if dim < 2 or not value.shape[dim]:
        return None
    size = source.meta["val"].shape[dim]
    start = start or 0
    return dim, min(max(start + size if start < 0 else start, 0), size), value.shape[dim]


def _arguments(layer: Node) -> list[Any]:
    defaults: Sequence[Any] = (None, None, None, [1, 1], [0, 0], [1, 1], 1)
    arguments = [*layer.args, *defaults[len(layer.args) :]]
    arguments[2] = layer.kwargs.get("bias", arguments[2])
    for index in (3, 4, 5):
        pair = arguments[index]
        pair = [pair] if isinstance(pair, int) else list(pair)
        arguments[index] = pair * 2 if len(pair) == 1 else pair
    return arguments
