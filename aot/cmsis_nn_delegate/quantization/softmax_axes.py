"""Computes softmax along the last dimension, which is innermost in memory, wherever the model computes it.

The kernels take rows. Along another dimension, softmax becomes a transpose, softmax along the last one, and the same
transpose again. Dimension 1 of images stays: they lie channels-last.
"""

from __future__ import annotations

import math
from typing import Any

import torch
from torch.fx import GraphModule, Node

aten = torch.ops.aten

_SOFTMAX = {
    aten.softmax.int,
    aten._softmax.default,
    aten.log_softmax.int,
    aten._log_softmax.default,
}


def softmax_along_rows(model: GraphModule) -> None:
    """Rewrites the softmax and log_softmax calls of `model` as the module docstring says."""
    for node in list(model.graph.nodes):
        if node.op == "call_function" and node.target in _SOFTMAX:
            _rewrite(node)
    model.graph.lint()
    model.recompile()


def _rewrite(node: Node) -> None:
    value = node.meta.get("val")
    if not isinstance(value, torch.Tensor) or value.dim() < 2:
        return
    source, dim, *rest = node.args
    assert isinstance(dim, int)
    dim %= value.dim()
    innermost = math.prod(value.shape[dim + 1 :]) == 1 or value.shape[dim] == 1
    if innermost or (value.dim() == 4 and dim == 1):
        return
    last = value.dim() - 1
    graph = node.graph
    with graph.inserting_before(node):
        before = _transpose(node, source, dim, last)
    with graph.inserting_after(node):
        after = _transpose(node, node, dim, last)
    node.replace_all_uses_with(after, delete_user_cb=lambda user: user is not after)
    after.meta["val"] = value
    node.args = (before, last, *rest)
    node.meta["val"] = before.meta["val"].new_empty(before.meta["val"].shape)


def _transpose(node: Node, source: Any, dim: int, last: int) -> Node:
    found = node.graph.call_function(aten.transpose.int, (source, dim, last))
    found.meta = dict(node.meta)
    found.meta["val"] = node.meta["val"].transpose(dim, last)
    return found
