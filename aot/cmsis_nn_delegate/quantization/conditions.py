"""Computes what depends on a condition with products: where(c, a, b) is c * a + (1 - c) * b, if c is 0 or 1.

The delegate has no booleans. Conditions are comparisons of activations with numbers or with each other, and what is
computed of inputs of booleans; `masks` has taken those that hide scores before a softmax.
"""

from __future__ import annotations

from typing import Any, Optional

import torch
from torch.fx import GraphModule, Node

from .finiteness import decide_finiteness
from .rewriting import call_for, constant_for, finish
from .specs import BRANCHES, IF_CHOSEN
from .truth_values import Truths, TwoValued

aten = torch.ops.aten

_WHERE = {aten.where.self, aten.where.Scalar, aten.where.ScalarSelf, aten.where.ScalarOther}
_FILLS = {aten.masked_fill.Scalar, aten.masked_fill.Tensor}
_CONVERSIONS = {aten.to.dtype, aten._to_copy.default}
_SUMS = {aten.sum.default, aten.sum.dim_IntList}
_COMPUTED = {aten.mul.Tensor, aten.add.Tensor, aten.sub.Tensor, aten.div.Tensor}
# Larger numbers would take the scale of all others.
_LARGEST = 1e6


def conditions_to_numbers(model: GraphModule) -> None:
    """Rewrites `model` as the module docstring says."""
    truths = Truths(model, floats=False)
    decide_finiteness(model, truths)
    for node in list(model.graph.nodes):
        value = node.meta.get("val")
        if node.op != "call_function" or not isinstance(value, torch.Tensor) or value.dtype != torch.float32:
            continue
        with node.graph.inserting_before(node):
            if node.target in _WHERE:
                condition, a, b = node.args
                _choose(model, truths, node, condition, a, b)
            elif node.target in _FILLS:
                source, condition, fill = node.args
                _choose(model, truths, node, condition, fill, source)
            elif node.target in _CONVERSIONS or node.target in _COMPUTED:
                _convert(truths, node)
    finish(model)


def _number_of(truths: Truths, node: Node, operand: Node) -> Optional[Node]:
    """Returns the floats of an operand that is a tensor of booleans, or a sum of such, which has integers."""
    value = operand.meta.get("val")
    if not isinstance(value, torch.Tensor):
        return None
    if value.dtype == torch.bool:
        found = truths.of(operand)
        return None if found is None else truths.number(node, found)
    if operand.target not in _SUMS or value.dtype != torch.int64:
        return None
    source: Any = operand.args[0]
    found = truths.of(source) if source.meta["val"].dtype == torch.bool else None
    number = None if found is None else truths.number(node, found)
    if number is None or number.meta["val"].shape != source.meta["val"].shape:
        return None
    count = number.meta["val"].new_empty(value.shape)
    return call_for(node, operand.target, count, number, *operand.args[1:])


def _convert(truths: Truths, node: Node) -> None:
    """Gives a function of floats that reads booleans numbers instead."""
    for operand in node.all_input_nodes:
        number = _number_of(truths, node, operand)
        if number is None:
            continue
        if node.target in _COMPUTED:
            node.replace_input_with(operand, number)
        elif number.meta["val"].shape == node.meta["val"].shape:
            node.replace_all_uses_with(number)


def _choose(model: GraphModule, truths: Truths, node: Node, condition: Any, a: Any, b: Any) -> None:
    """Replaces `node`, which is `a` where `condition` is true, and else `b`."""
    constant = truths.data(condition)
    found = truths.of(condition) if constant is None else None
    if constant is None and (found is None or found.true.dtype != torch.bool):
        return
    if constant is not None and bool((constant == constant.reshape(-1)[0]).all()):
        chosen = a if bool(constant.reshape(-1)[0]) else b
        if isinstance(chosen, Node) and _is_like(chosen, node):
            node.replace_all_uses_with(chosen)
            return
    if not all(_is_moderate(truths, x) for x in (a, b)):
        return
    terms: list[Optional[Node]] = []
    for x, opposite in ((a, False), (b, True)):
        number = _number(truths, x)
        if number == 0.0:
            continue
        factor = 1.0 if number is None else number
        if found is not None:
            sides = [(side != opposite).float() * factor for side in (found.false, found.true)]
            truth = truths.number(node, TwoValued(found.source, found.places, *sides))
        else:
            assert constant is not None
            truth = constant_for(model, node, "chosen", (constant != opposite).float() * factor)
        if truth is not None and number is None:
            truth = call_for(node, aten.mul.Tensor, node.meta["val"], x, truth)
            if BRANCHES in node.meta:
                truth.meta[IF_CHOSEN] = True
        terms.append(truth)
    if not terms or None in terms:
        return
    result = terms[0] if len(terms) == 1 else call_for(node, aten.add.Tensor, node.meta["val"], *terms)
    assert result is not None
    if result.meta["val"].shape == node.meta["val"].shape:
        node.replace_all_uses_with(result)


def _is_like(a: Node, b: Node) -> bool:
    x, y = a.meta["val"], b.meta["val"]
    return bool(x.shape == y.shape and x.dtype == y.dtype)


def _data(truths: Truths, x: Any) -> Optional[torch.Tensor]:
    return truths.data(x) if isinstance(x, Node) else torch.tensor(float(x))


def _is_moderate(truths: Truths, x: Any) -> bool:
    """Returns whether `x` is computed, or all of its numbers can be quantized."""
    data = _data(truths, x)
    return data is None or bool((data.isfinite() & (data.abs() <= _LARGEST)).all())


def _number(truths: Truths, x: Any) -> Optional[float]:
    """Returns a number, plain or as a constant of one element; None for others."""
    data = _data(truths, x)
    return None if data is None or data.numel() != 1 else float(data)
