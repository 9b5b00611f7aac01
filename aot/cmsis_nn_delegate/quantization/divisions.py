"""Turns divisions by a constant tensor into products with its reciprocal, for which there is a kernel."""

from __future__ import annotations

import operator
from typing import Optional

import torch
from torch.fx import GraphModule, Node

from .in_place import constant_nodes, written_state
from .rewriting import finish

aten = torch.ops.aten


def divisions_to_products(model: GraphModule) -> None:
    """x / c becomes x * (1 / c), with c a parameter or buffer of several elements, or what is computed of these alone.

    Before quantization, so that 1 / c is rounded to 8 bits instead of c.
    """
    graph = model.graph
    constants = constant_nodes(graph) - written_state(graph)
    for node in list(graph.nodes):
        if node.op != "call_function" or node.target is not aten.div.Tensor:
            continue
        dividend, divisor = node.args
        if node in constants or divisor not in constants:
            continue
        value = _tensor(divisor)
        if value is None or value.dtype != torch.float32 or value.numel() == 1:
            continue  # a number is a matter of the scale
        with graph.inserting_before(node):
            reciprocal = graph.call_function(aten.reciprocal.default, (divisor,))
        reciprocal.meta = {**divisor.meta, "val": torch.empty_like(value)}
        node.target = aten.mul.Tensor
        node.args = (dividend, reciprocal)
    finish(model)


def _tensor(node: Node) -> Optional[torch.Tensor]:
    """Returns the tensor that stands for the node's result, a parameter or buffer itself."""
    value = node.meta.get("val")
    if node.op == "get_attr":
        value = operator.attrgetter(str(node.target))(node.graph.owning_module)
    return value if isinstance(value, torch.Tensor) else None
