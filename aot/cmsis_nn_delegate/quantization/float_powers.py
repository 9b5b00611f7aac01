"""Computes float_power in float32, if that is what the result becomes."""

from __future__ import annotations

import torch
from torch.fx import GraphModule, Node

from .rewriting import finish

aten = torch.ops.aten

_POWERS = {
    aten.float_power.Tensor_Scalar: aten.pow.Tensor_Scalar,
    aten.float_power.Scalar: aten.pow.Scalar,
    aten.float_power.Tensor_Tensor: aten.pow.Tensor_Tensor,
}


def float_powers_to_powers(model: GraphModule) -> None:
    """Turns float_power, whose result is float64, and conversions of all that reads it to float32, into pow."""
    for node in list(model.graph.nodes):
        if node.op != "call_function" or node.target not in _POWERS or not all(map(_to_float32, node.users)):
            continue
        if not node.users or any(source.meta["val"].dtype != torch.float32 for source in node.all_input_nodes):
            continue
        conversions = list(node.users)
        node.target = _POWERS[node.target]
        node.meta["val"] = conversions[0].meta["val"]
        for conversion in conversions:
            conversion.replace_all_uses_with(node)
    finish(model)


def _to_float32(node: Node) -> bool:
    return node.target in (aten.to.dtype, aten._to_copy.default) and node.meta["val"].dtype == torch.float32
