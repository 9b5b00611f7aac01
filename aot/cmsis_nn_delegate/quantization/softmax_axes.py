"""Computes softmax along the last dimension, which is innermost in memory, wherever the model computes it.

The kernels take rows. Along another dimension, softmax becomes a transpose, softmax along the last one, and the same
transpose again. Dimension 1 of images stays: they lie channels-last.
"""

from __future__ import annotations

import math

import torch
from torch.fx import GraphModule, Node

from .rewriting import call_for, finish

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
    finish(model)


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
    turned = value.transpose(dim, last)
    with node.graph.inserting_before(node):
        rows = call_for(node, aten.transpose.int, turned, source, dim, last)
        rows = call_for(node, node.target, turned, rows, last, *rest)
        result = call_for(node, aten.transpose.int, value, rows, dim, last)
    node.replace_all_uses_with(result)
