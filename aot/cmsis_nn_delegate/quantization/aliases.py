"""Gives functions that PyTorch has under several names the one that operators know: torch.multiply is torch.mul, and
rrelu, outside of training, is a leaky relu, and permute_copy permute.

The exported program has them under the name that the user wrote.
"""

from __future__ import annotations

from typing import Any, Optional

import torch
from torch.fx import GraphModule, Node

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
    "special_digamma": "digamma",
    "special_erf": "erf",
    "special_erfc": "erfc",
    "special_erfinv": "erfinv",
    "special_exp2": "exp2",
    "special_expit": "sigmoid",
    "special_expm1": "expm1",
    "special_gammaln": "lgamma",
    "special_i0": "i0",
    "special_log1p": "log1p",
    "special_log_softmax": "log_softmax",
    "special_logit": "logit",
    "special_psi": "digamma",
    "special_sinc": "sinc",
    "special_softmax": "softmax",
    "special_xlogy": "xlogy",
    "subtract": "sub",
    "true_divide": "div",
}

# Copies of other kinds.
_NO_VIEWS = {"_to_copy", "lift_fresh_copy"}


def aliases_to_functions(model: GraphModule) -> None:
    """Replaces the targets of calls whose functions have another name."""
    for node in model.graph.nodes:
        if node.op == "call_function":
            node.target = _known(node.target) or node.target
        if node.target is torch.ops.aten.rrelu.default:
            _to_leaky_relu(node)
    model.recompile()


def _to_leaky_relu(node: Node) -> None:
    """Gives an rrelu that is not trained the slope that it has then: the middle of its range."""
    given: dict[str, Any] = {"lower": 1 / 8, "upper": 1 / 3, "training": False, **node.kwargs}
    given.update(zip(("self", "lower", "upper", "training"), node.args))
    if not given["training"]:
        node.target = torch.ops.aten.leaky_relu.default
        node.args, node.kwargs = (given["self"], (given["lower"] + given["upper"]) / 2), {}


def _known(target: Any) -> Optional[Any]:
    """Returns the overload of the other name that takes the same arguments; None if there is none."""
    schema = getattr(target, "_schema", None)
    if schema is None or not schema.name.startswith("aten::"):
        return None
    own = schema.name.removeprefix("aten::")
    name = _NAMES.get(own)
    if own.endswith("_copy") and own not in _NO_VIEWS:
        name = own.removesuffix("_copy")  # a view, which is the same where nothing writes into it
    if name is None or not hasattr(torch.ops.aten, name):
        return None
    packet = getattr(torch.ops.aten, name)
    for overload in packet.overloads():
        found = getattr(packet, overload)
        if _types(found) == _types(target):
            return found
    return None


def _types(target: Any) -> list[str]:
    return [str(argument.type) for argument in target._schema.arguments]
