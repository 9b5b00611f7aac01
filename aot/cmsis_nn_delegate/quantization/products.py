"""Brings products of matrices into forms whose parts are quantized one by one.

Attention is one function in PyTorch, but its kernels are those of two products, a softmax and the operators between
them, each with a scale of its own. A product with a constant matrix is a linear layer, whose weights have a scale for
each output channel. ExecuTorch would find the same parts later, when they can no longer be quantized.
"""

from __future__ import annotations

import math
from typing import Any, Optional

import torch
from torch.fx import GraphModule, Node

from ..edge.naming import computed_in_float
from ..ops.batch_matmul import matrices
from .in_place import written_state
from .masks import HIDING, leaves_some, softmax_of_masked
from .rewriting import call_for, constant_for, data_of, evaluated, finish
from .truth_values import Truths
from .views import fit_views

aten = torch.ops.aten

_PRODUCTS = {aten.matmul.default, aten.mm.default, aten.bmm.default}
_SUMS = {aten.addmm.default, aten.baddbmm.default}


def split_products(model: GraphModule) -> None:
    """Rewrites attention, sums of a matrix and a product, and products with constant matrices."""
    attention = model.graph.find_nodes(op="call_function", target=aten.scaled_dot_product_attention.default)
    for node in list(model.graph.nodes):
        if node in attention:
            _split_one(model, node)
        elif node.target in _SUMS:
            _split_sum(node)
        elif node.target is aten.linear.default:
            _from_linear(model, node)
    for node in list(model.graph.nodes):
        if node.target in _PRODUCTS:
            _to_linear(model, node)
            _expand(node)
    finish(model)
    if attention:
        # What attention computes as one function lies in memory as a later view of it wants it; a product's result
        # does not.
        fit_views(model)


def split_attention_in_float(model: GraphModule) -> None:
    """Rewrites attention that the delegate computes in float32: ExecuTorch would look for rows that are hidden whole,
    with functions of booleans that have no kernel."""
    attention = model.graph.find_nodes(op="call_function", target=aten.scaled_dot_product_attention.default)
    asked = [node for node in attention if computed_in_float(node)]
    for node in asked:
        _split_one(model, node)
    if asked:
        finish(model)
        fit_views(model)


def _split_one(model: GraphModule, node: Node) -> None:
    """softmax(query @ key^T * scale + mask) @ value. Not with dropout, or a constant mask of true and false that hides
    whole rows."""
    query, key, value, mask, dropout, causal, gqa = _arguments(node)
    if dropout:
        return
    hidden: Optional[torch.Tensor] = None
    chosen: Optional[Node] = None  # a mask that is computed
    q, k, v = (argument.meta["val"] for argument in (query, key, value))
    if causal:
        hidden = torch.ones(q.shape[-2], k.shape[-2], dtype=torch.bool).triu(1)
    elif mask is not None and mask.meta["val"].dtype == torch.bool:
        kept = None if mask in written_state(model.graph) else evaluated(model, mask)
        if kept is None and computed_in_float(node):
            return  # it would be chosen by a function of booleans
        if kept is None and not Truths(model, floats=True).is_known(mask):
            return  # the scores would share the scale of what hides
        if kept is None:
            chosen, mask = mask, None
        elif leaves_some(~kept):
            hidden, mask = ~kept, None
        else:
            return
    if gqa:
        key, value = (_repeat_heads(node, argument, q.shape[-3]) for argument in (key, value))
        k, v = (argument.meta["val"] for argument in (key, value))
    weights = q @ k.transpose(-2, -1)
    scale: Any = node.kwargs.get("scale")
    if scale is None:
        scale = 1 / math.sqrt(q.shape[-1])
    with node.graph.inserting_before(node):
        if scale != 1:
            # The queries have fewer elements than the product.
            query = call_for(node, aten.mul.Tensor, q, query, scale)
        transposed = call_for(node, aten.transpose.int, k.transpose(-2, -1), key, -2, -1)
        scores = call_for(node, aten.matmul.default, weights, query, transposed)
        if mask is not None:
            scores = call_for(node, aten.add.Tensor, weights, scores, mask)
        if chosen is not None:
            scores = call_for(node, aten.where.ScalarOther, weights, chosen, scores, HIDING)
        if hidden is not None and computed_in_float(node):
            added = torch.zeros(hidden.shape).masked_fill(hidden, -math.inf)
            scores = call_for(node, aten.add.Tensor, weights, scores, constant_for(model, node, "mask", added))
            scores = call_for(node, aten.softmax.int, weights, scores, -1)
        elif hidden is not None:
            scores = softmax_of_masked(model, node, scores, hidden)
        else:
            scores = call_for(node, aten.softmax.int, weights, scores, -1)
        result = call_for(node, aten.matmul.default, weights @ v, scores, value)
    node.replace_all_uses_with(result)
    node.graph.erase_node(node)  # which may drop numbers out, so that it would not count as dead


def _repeat_heads(node: Node, x: Node, heads: int) -> Node:
    """Returns as many heads of a key or value as there are of the query: each serves several that are neighbours."""
    value = x.meta["val"]
    times = heads // value.shape[-3]
    if times == 1:
        return x
    with node.graph.inserting_before(node):
        repeated = value.repeat_interleave(times, -3)
        return call_for(node, aten.repeat_interleave.self_int, repeated, x, times, value.dim() - 3)


def _expand(node: Node) -> None:
    """Gives the operands of a product all batches, if the kernel cannot broadcast them."""
    operands: tuple[Any, ...] = node.args
    shapes = [operand.meta["val"].shape for operand in operands]
    if min(map(len, shapes)) < 2 or matrices(*shapes) is not None:
        return
    batches = node.meta["val"].shape[:-2]
    for operand, shape in zip(operands, shapes):
        whole = [*batches, *shape[-2:]]
        with node.graph.inserting_before(node):
            expanded = call_for(node, aten.expand.default, operand.meta["val"].expand(whole), operand, whole)
        node.replace_input_with(operand, expanded)


def _arguments(node: Node) -> tuple[Any, ...]:
    """(query, key, value, mask, dropout, is_causal, enable_gqa) of an attention."""
    query, key, value, *rest = node.args
    names = ("attn_mask", "dropout_p", "is_causal")
    values: dict[str, Any] = {**dict(zip(names, rest)), **node.kwargs}
    return query, key, value, *(values.get(name) for name in (*names, "enable_gqa"))


def _split_sum(node: Node) -> None:
    """beta * addend + alpha * (a @ b)."""
    addend, a, b = node.args
    factors: dict[str, Any] = dict(node.kwargs)
    alpha, beta = (factors.get(name, 1) for name in ("alpha", "beta"))
    target = aten.mm.default if node.target is aten.addmm.default else aten.bmm.default
    with node.graph.inserting_before(node):
        result = call_for(node, target, node.meta["val"], a, b)
        if alpha != 1:
            result = call_for(node, aten.mul.Tensor, node.meta["val"], result, alpha)
        if beta != 0:
            result = call_for(node, aten.add.Tensor, node.meta["val"], result, addend)
            result.kwargs = {"alpha": beta} if beta != 1 else {}
    node.replace_all_uses_with(result)


def _from_linear(model: GraphModule, node: Node) -> None:
    """A linear layer whose weight is computed, or passed in, is the product of two activations."""
    x, weight, *rest = node.args
    if evaluated(model, weight) is not None or not isinstance(weight, Node):
        return
    bias = rest[0] if rest else node.kwargs.get("bias")
    with node.graph.inserting_before(node):
        turned = call_for(node, aten.transpose.int, weight.meta["val"].transpose(-2, -1), weight, -2, -1)
        result = call_for(node, aten.matmul.default, node.meta["val"], x, turned)
        if bias is not None:
            result = call_for(node, aten.add.Tensor, node.meta["val"], result, bias)
    node.replace_all_uses_with(result)


def _to_linear(model: GraphModule, node: Node) -> None:
    """x @ constant, and + a constant for each column, becomes a linear layer, if all batches have the same matrix."""
    arguments: tuple[Any, ...] = node.args
    x, matrix = arguments
    weight = data_of(model, matrix)
    if weight is None or weight.dtype != torch.float32 or data_of(model, x) is not None:
        return
    if max(weight.dim(), 2) > x.meta["val"].dim() or weight.numel() != math.prod(weight.shape[-2:]):
        return
    weight = weight.reshape(weight.shape[-2:])
    bias: Any = None
    last = node
    follower = next(iter(node.users)) if len(node.users) == 1 else None
    if follower is not None and follower.target is aten.add.Tensor and not follower.kwargs:
        others = [argument for argument in follower.args if argument is not node]
        data: Optional[torch.Tensor] = data_of(model, others[0]) if len(others) == 1 else None
        if data is not None and data.shape == weight.shape[1:]:
            bias, last = others[0], follower
    with node.graph.inserting_before(last):
        parameters = [constant_for(model, node, "weight", weight.t().contiguous(), trained=True)]
        if bias is not None:
            parameters.append(bias)
        result = call_for(last, aten.linear.default, last.meta["val"], x, *parameters)
    last.replace_all_uses_with(result)
