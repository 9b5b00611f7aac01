"""Computes what `forward` computes of constants alone, so that it is a constant for everything that follows.

torchao and torch.export fold constants too, but the former not those that no tensor is given for (`torch.zeros`), and
neither leaves out what is computed of a buffer that the model writes.
"""

from __future__ import annotations

import operator
from typing import Any

import torch
from torch.fx import GraphModule, Node

from .in_place import written, written_state
from .rewriting import constant_for, finish

aten = torch.ops.aten

# Read only the shape and type of their first argument.
_SHAPED_LIKE = {
    aten.zeros_like.default,
    aten.ones_like.default,
    aten.full_like.default,
    aten.new_zeros.default,
    aten.new_ones.default,
    aten.new_full.default,
}


def fold_constants(model: GraphModule, trained: bool = False) -> None:
    """Replaces what is computed of constants alone by its value. If the model is `trained`, its parameters are not
    constant."""
    values = constant_values(model, trained)
    for node, value in values.items():
        if node.op == "get_attr" or not isinstance(value, torch.Tensor):
            continue
        if all(user in values for user in node.users):
            continue
        with model.graph.inserting_before(node):
            constant = constant_for(model, node, "value", value.clone())
        node.replace_all_uses_with(constant)
    finish(model)


def constant_values(model: GraphModule, trained: bool) -> dict[Node, Any]:
    """Returns the values of constants and of what is computed of them alone, by node."""
    state = written_state(model.graph)
    values: dict[Node, Any] = {}
    with torch.no_grad():
        for node in model.graph.nodes:
            if node in state and node.target not in _SHAPED_LIKE:
                continue
            if node.op == "get_attr":
                data = operator.attrgetter(str(node.target))(model)
                if isinstance(data, torch.Tensor) and not (trained and data.requires_grad):
                    values[node] = data.detach()
            elif _is_function(node):
                sources = {source: values.get(source) for source in node.all_input_nodes}
                if node.target in _SHAPED_LIKE:
                    first: Any = node.args[0]
                    if not _is_static(first):
                        continue
                    like = first.meta["val"]
                    sources[first] = torch.empty_strided(like.shape, like.stride(), dtype=like.dtype)
                if any(value is None for value in sources.values()):
                    continue
                target: Any = node.target
                args, kwargs = torch.fx.node.map_arg((node.args, node.kwargs), sources.__getitem__)
                values[node] = target(*args, **kwargs)
    return values


def _is_function(node: Node) -> bool:
    """Returns whether a call does nothing but compute its result, the same each time."""
    if node.op != "call_function" or written(node):
        return False
    if node.target is operator.getitem:
        return True
    target = node.target
    return isinstance(target, torch._ops.OpOverload) and torch.Tag.nondeterministic_seeded not in target.tags


def _is_static(node: Node) -> bool:
    value = node.meta.get("val")
    return isinstance(value, torch.Tensor) and all(isinstance(size, int) for size in value.shape)
