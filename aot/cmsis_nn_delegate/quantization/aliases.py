"""Gives functions that PyTorch has under several names the one that operators know: torch.multiply is torch.mul.

The exported program has them under the name that the user wrote.
"""

from __future__ import annotations

from typing import Any, Optional

import torch
from torch.fx import GraphModule

# As PyTorch documents them ("Alias for ...").
_NAMES = {
    "absolute": "abs",
    "arccos": "acos",
    "arccosh": "acosh",
    "arcsin": "asin",
    "arcsinh": "asinh",
    "arctan": "atan",
    "arctanh": "atanh",
    "clip": "clamp",
    "divide": "div",
    "fix": "trunc",
    "multiply": "mul",
    "negative": "neg",
    "special_erf": "erf",
    "special_erfc": "erfc",
    "special_exp2": "exp2",
    "special_expit": "sigmoid",
    "special_expm1": "expm1",
    "special_log1p": "log1p",
    "special_log_softmax": "log_softmax",
    "special_logit": "logit",
    "special_sinc": "sinc",
    "special_softmax": "softmax",
    "subtract": "sub",
    "true_divide": "div",
}


def aliases_to_functions(model: GraphModule) -> None:
    """Replaces the targets of calls whose functions have another name."""
    for node in model.graph.nodes:
        if node.op == "call_function":
            node.target = _known(node.target) or node.target
    model.recompile()


def _known(target: Any) -> Optional[Any]:
    """Returns the overload of the other name that takes the same arguments; None if there is none."""
    schema = getattr(target, "_schema", None)
    if schema is None or not schema.name.startswith("aten::"):
        return None
    name = _NAMES.get(schema.name.removeprefix("aten::"))
    if name is None:
        return None
    packet = getattr(torch.ops.aten, name)
    for overload in packet.overloads():
        found = getattr(packet, overload)
        if _types(found) == _types(target):
            return found
    return None


def _types(target: Any) -> list[str]:
    return [str(argument.type) for argument in target._schema.arguments]
