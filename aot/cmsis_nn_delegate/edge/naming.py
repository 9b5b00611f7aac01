"""How messages and checks name the nodes of edge and ATen programs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .nodes import target_name

if TYPE_CHECKING:
    from torch.fx import Node


def module_of(node: Node) -> str:
    """Returns the module that the node comes from, such as "layers.0 (Conv2d)"; "" if unknown."""
    stack = node.meta.get("nn_module_stack") or {}
    for path, kind in reversed(list(stack.values())):
        name = kind if isinstance(kind, str) else getattr(kind, "__name__", str(kind))
        if path and "<locals>" not in name:
            return f"{path} ({name.rsplit('.', 1)[-1]})"
    return ""


def described(node: Node) -> str:
    """Returns a node's description for messages, such as "sin (aten.sin.default) in 1 (Sine)"."""
    if node.op == "placeholder":
        return f"{node.name}, an input or constant of the program"
    where = module_of(node)
    return f"{node.name} ({target_name(node) or node.op})" + (f" in {where}" if where else "")
