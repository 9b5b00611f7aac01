"""Finds softmax of scores that a constant mask hides parts of, and makes it one function of scores and mask.

Models add minus infinity, or a large negative number, where an element must not count, or fill it in. Quantized, the
scores would share the scale of that number, and lose theirs.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple, Optional

import torch
from torch.fx import GraphModule, Node

from .rewriting import call_for, constant_for, evaluated, finish

aten = torch.ops.aten

# What is at most this, next to scores that count, is hidden: exp(-100) is 0 in any output.
LARGEST_HIDING = -100.0

_SOFTMAX = {aten.softmax.int, aten._softmax.default}
_RESHAPES = {aten.view.default, aten.reshape.default, aten._unsafe_view.default, aten.unsqueeze.default}
_QUOTIENTS = {aten.div.Tensor, aten.mul.Tensor}


class _Masked(NamedTuple):
    """`scores` without their mask, and a tensor of their shape that says where they are hidden."""

    scores: Node
    hidden: torch.Tensor


def take_masks(model: GraphModule) -> None:
    """Rewrites `model` as the module docstring says."""
    for node in list(model.graph.nodes):
        if node.op == "call_function" and node.target in _SOFTMAX:
            _take_mask(model, node)
    finish(model)


def softmax_of_masked(model: GraphModule, node: Node, scores: Node, hidden: torch.Tensor) -> Node:
    """Returns a call that stands for `node`: softmax along the last dimension of the scores that are not `hidden`, a
    mask that can be expanded to their shape. The caller sets the place."""
    value = scores.meta["val"]
    mask = constant_for(model, node, "mask", hidden.expand(value.shape).contiguous())
    return call_for(node, aten._masked_softmax.default, value, scores, mask, value.dim() - 1)


def leaves_some(hidden: torch.Tensor) -> bool:
    """Returns whether in each row something counts: what is left of the others differs from function to function."""
    return not bool(hidden.all(-1).any())


def _take_mask(model: GraphModule, node: Node) -> None:
    arguments: tuple[Any, ...] = node.args
    source, dim = arguments[:2]
    value = source.meta["val"]
    if dim not in (-1, value.dim() - 1) or not all(isinstance(size, int) for size in value.shape):
        return
    with node.graph.inserting_before(node):
        found = _masked(model, source, LARGEST_HIDING)
        if found is not None and leaves_some(found.hidden):
            node.replace_all_uses_with(softmax_of_masked(model, node, *found))


def _masked(model: GraphModule, node: Any, largest: float) -> Optional[_Masked]:
    """Returns the scores that `node` hides parts of, by numbers of at most `largest`; None if it does not."""
    if not isinstance(node, Node) or node.op != "call_function":
        return None
    found = _reshaped(model, node, largest) or _scaled(model, node, largest) or _filled(model, node, largest)
    if found is None:
        return None
    inner = _masked(model, found.scores, largest)
    return found if inner is None else _Masked(inner.scores, inner.hidden | found.hidden)


def _filled(model: GraphModule, node: Node, largest: float) -> Optional[_Masked]:
    """Of a mask that is added, or says where a number is filled in."""
    arguments: tuple[Any, ...] = node.args
    shape = node.meta["val"].shape
    if node.target is aten.add.Tensor and not node.kwargs:
        for scores, mask in (arguments, arguments[::-1]):
            data = evaluated(model, mask)
            if isinstance(scores, Node) and data is not None and bool((data <= largest).any()):
                return _added(model, node, scores, data, largest)
    if node.target in (aten.masked_fill.Scalar, aten.masked_fill.Tensor):
        scores, mask, fill = arguments
        return _where(model, scores, evaluated(model, mask), fill, shape, largest)
    if node.target in (aten.where.self, aten.where.ScalarOther):
        mask, scores, fill = arguments
        kept = evaluated(model, mask)
        return _where(model, scores, None if kept is None else ~kept, fill, shape, largest)
    if node.target is aten.where.ScalarSelf:
        mask, fill, scores = arguments
        return _where(model, scores, evaluated(model, mask), fill, shape, largest)
    return None


def _added(model: GraphModule, node: Node, scores: Node, data: torch.Tensor, largest: float) -> Optional[_Masked]:
    """Of an added mask; the numbers in it that do not hide are still added."""
    if scores.meta["val"].shape != node.meta["val"].shape:
        return None
    hidden = data <= largest
    rest = data.masked_fill(hidden, 0.0)
    if bool(rest.any()):
        scores = call_for(
            node, aten.add.Tensor, node.meta["val"], scores, constant_for(model, node, "bias", rest.clone())
        )
    return _Masked(scores, hidden.expand(node.meta["val"].shape))


def _where(
    model: GraphModule, scores: Any, hidden: Optional[torch.Tensor], fill: Any, shape: torch.Size, largest: float
) -> Optional[_Masked]:
    """Of `scores` with the number `fill` where they are `hidden`."""
    if isinstance(fill, Node):
        data = evaluated(model, fill)
        fill = None if data is None or not data.numel() else float(data.max())
    if hidden is None or fill is None or fill > largest:
        return None
    if not isinstance(scores, Node) or scores.meta["val"].shape != shape:
        return None
    return _Masked(scores, hidden.expand(shape))


def _reshaped(model: GraphModule, node: Node, largest: float) -> Optional[_Masked]:
    """Of a reshape that keeps the rows of masked scores: the scores are reshaped before they are masked."""
    if node.target not in _RESHAPES:
        return None
    value = node.meta["val"]
    found = _masked(model, node.args[0], largest)
    if found is None or found.hidden.shape[-1:] != value.shape[-1:]:
        return None
    scores = call_for(node, aten.reshape.default, value, found.scores, list(value.shape))
    return _Masked(scores, found.hidden.reshape(value.shape))


def _scaled(model: GraphModule, node: Node, largest: float) -> Optional[_Masked]:
    """Of masked scores that are multiplied with or divided by a positive number: they are multiplied before."""
    if node.target not in _QUOTIENTS or len(node.all_input_nodes) != 1:
        return None
    source, number = node.args
    if not isinstance(number, (int, float)) or number <= 0 or not math.isfinite(number):
        return None
    factor = number if node.target is aten.mul.Tensor else 1 / number
    found = _masked(model, source, largest / factor)
    if found is None:
        return None
    target: Any = node.target
    return _Masked(call_for(node, target, node.meta["val"], found.scores, number), found.hidden)
