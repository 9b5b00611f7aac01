"""Computes comparisons in float32, and what is chosen by them, without booleans (`edge.condition_ops`), where
`format: float32` asks for that.

ExecuTorch's kernels would compute them outside of the delegate, which divides its call.
"""

from __future__ import annotations

from typing import Any, Optional

import torch
from torch.fx import GraphModule, Node

from ..edge.condition_ops import OPS
from ..edge.naming import computed_in_float
from ..ops.broadcast import output_shape
from .rewriting import call_for, constant_for, evaluated, finish

aten = torch.ops.aten

_COMPARISONS = {
    getattr(getattr(aten, name), overload): name
    for name in ("gt", "ge", "lt", "le", "eq", "ne")
    for overload in ("Scalar", "Tensor")
}
_NOTS = {aten.logical_not.default, aten.bitwise_not.default}
# Of 0 and 1, each is a function of two floats.
_BOTH = {
    **dict.fromkeys((aten.logical_and.default, aten.bitwise_and.Tensor, aten.__and__.Tensor), aten.mul.Tensor),
    **dict.fromkeys((aten.logical_or.default, aten.bitwise_or.Tensor, aten.__or__.Tensor), aten.maximum.default),
    **dict.fromkeys((aten.logical_xor.default, aten.bitwise_xor.Tensor, aten.__xor__.Tensor), OPS["ne"]),
}
_MOVES = {
    aten.clone.default,
    aten.contiguous.default,
    aten.expand.default,
    aten.flatten.using_ints,
    aten.flip.default,
    aten.permute.default,
    aten.repeat.default,
    aten.reshape.default,
    aten.select.int,
    aten.slice.Tensor,
    aten.squeeze.dim,
    aten.transpose.int,
    aten.unsqueeze.default,
    aten.view.default,
}
_WHERE = {aten.where.self, aten.where.Scalar, aten.where.ScalarSelf, aten.where.ScalarOther}
_FILLS = {aten.masked_fill.Scalar, aten.masked_fill.Tensor}
_CONVERSIONS = {aten.to.dtype, aten._to_copy.default}
_COMPUTED = {aten.mul.Tensor, aten.add.Tensor, aten.sub.Tensor}


def conditions_in_float(model: GraphModule) -> None:
    """Rewrites what `model` computes in float32 with conditions. Those that are inputs, or computed of integers, stay
    as they are."""
    conditions = _Conditions(model)
    nodes = [node for node in model.graph.nodes if node.op == "call_function" and computed_in_float(node)]
    found = [conditions.take(node) for node in nodes if _is_float(node)]
    if any(found):
        finish(model)


class _Conditions:
    """The conditions of `model` in floats, each computed once."""

    def __init__(self, model: GraphModule) -> None:
        self._model = model
        self._numbers: dict[Node, Optional[Node]] = {}

    def take(self, node: Node) -> bool:
        """Rewrites a function of floats that depends on a condition. Returns whether it has."""
        arguments: tuple[Any, ...] = node.args
        if node.target in _WHERE:
            return self._choose(node, *arguments[:3])
        if node.target in _FILLS:
            return self._choose(node, arguments[1], arguments[2], arguments[0])
        if node.target not in _CONVERSIONS and node.target not in _COMPUTED:
            return False
        changed = False
        for operand in node.all_input_nodes:
            number = self._number(operand) if _is_bool(operand) else None
            if number is not None and node.target in _COMPUTED:
                node.replace_input_with(operand, number)
                changed = True
            elif number is not None:
                node.replace_all_uses_with(number)
                changed = True
        return changed

    def _choose(self, node: Node, condition: Node, chosen: Any, other: Any) -> bool:
        number = self._number(condition)
        if number is None or not all(_is_float(x) or isinstance(x, (int, float)) for x in (chosen, other)):
            return False
        with node.graph.inserting_before(node):
            parts = [self._call(node, OPS[name], number, x) for name, x in (("keep", chosen), ("drop", other))]
            result = self._call(node, aten.add.Tensor, *parts)
        node.replace_all_uses_with(result)
        return True

    def _number(self, node: Node) -> Optional[Node]:
        """Returns 0.0 and 1.0 for a tensor of booleans; None where that is not known to be one."""
        if node not in self._numbers:
            # Behind `node`, of which all that needs its number comes later.
            with node.graph.inserting_after(node):
                self._numbers[node] = self._computed(node)
        return self._numbers[node]

    def _computed(self, node: Node) -> Optional[Node]:
        constant = evaluated(self._model, node) if _is_bool(node) else None
        if constant is not None:
            return constant_for(self._model, node, "number", constant.float())
        if node.op != "call_function" or not computed_in_float(node) or not _is_bool(node):
            return None
        arguments: tuple[Any, ...] = node.args
        if node.target in _COMPARISONS:
            if not all(_is_float(x) or isinstance(x, (int, float)) for x in arguments[:2]):
                return None
            return self._behind(node, OPS[_COMPARISONS[node.target]], *arguments[:2])
        numbers = [self._number(x) for x in arguments if isinstance(x, Node)]
        if any(number is None for number in numbers):
            return None
        if node.target in _NOTS:
            return self._behind(node, OPS["eq"], numbers[0], 0.0)
        if node.target in _BOTH:
            return self._behind(node, _BOTH[node.target], *numbers)
        if node.target in _MOVES:
            return self._behind(node, node.target, numbers[0], *arguments[1:])
        return None

    def _behind(self, node: Node, target: Any, *operands: Any) -> Node:
        with node.graph.inserting_before(node):
            return self._call(node, target, *operands)

    def _call(self, node: Node, target: Any, *operands: Any) -> Node:
        """Returns a call with floats, numbers among which become tensors."""
        if target in _MOVES:
            moved = target(operands[0].meta["val"], *operands[1:])
            return call_for(node, target, moved, *operands)
        given = [_in_order(node, x) if isinstance(x, Node) else self._constant(node, x) for x in operands]
        shape = output_shape([x.meta["val"].shape for x in given])
        return call_for(node, target, torch.empty(shape), *given)

    def _constant(self, node: Node, number: float) -> Node:
        return constant_for(self._model, node, "number", torch.tensor(float(number)))


def _in_order(node: Node, x: Node) -> Node:
    """Returns `x` in row-major order, which kernels of float32 take."""
    value = x.meta["val"]
    if value.is_contiguous():
        return x
    copied = call_for(node, aten.clone.default, value.contiguous(), x)
    copied.kwargs = {"memory_format": torch.contiguous_format}
    return copied


def _is_bool(x: Any) -> bool:
    value = x.meta.get("val") if isinstance(x, Node) else None
    return isinstance(value, torch.Tensor) and value.dtype == torch.bool


def _is_float(x: Any) -> bool:
    value = x.meta.get("val") if isinstance(x, Node) else None
    return isinstance(value, torch.Tensor) and value.dtype == torch.float32
