"""How messages and checks name the nodes of edge and ATen programs."""

from __future__ import annotations

import os
import re
import sysconfig
from dataclasses import dataclass
from typing import TYPE_CHECKING

from .nodes import target_name

if TYPE_CHECKING:
    from torch.fx import Node


# In `meta["custom"]` of a function, which torch.export and ExecuTorch keep: where the user asked to leave it in float.
LEFT_IN_FLOAT = "cmsis_nn_left_in_float"
# In the same place: the user asked that the delegate computes the function in float32.
COMPUTED_IN_FLOAT = "cmsis_nn_computed_in_float"

_FRAME = re.compile(r'^ *File "(.+)", line (\d+), in .+\n +(.+)$', re.MULTILINE)
_TORCH = os.path.join(sysconfig.get_paths()["purelib"], "torch", "")


@dataclass(frozen=True)
class SourceLine:
    """A line of the user's code."""

    file: str
    number: int
    code: str

    def __str__(self) -> str:
        """Returns "model.py:12"."""
        return f"{os.path.basename(self.file)}:{self.number}"


def source_of(node: Node) -> SourceLine | None:
    """Returns the innermost line outside of PyTorch that calls the function of `node`; None if unknown."""
    for file, number, code in reversed(_FRAME.findall(node.meta.get("stack_trace") or "")):
        if not file.startswith((_TORCH, "<")):
            return SourceLine(file, int(number), code.strip())
    return None


def left_in_float(node: Node) -> str | None:
    """Returns where the user asked for the function to stay in float, "module_names: head"; None if that was not asked
    for."""
    found: str | None = (node.meta.get("custom") or {}).get(LEFT_IN_FLOAT)
    return found


def computed_in_float(node: Node) -> bool:
    """Returns whether the user asked that the delegate computes the function in float32 (`format: float32`)."""
    return COMPUTED_IN_FLOAT in (node.meta.get("custom") or {})


def module_of(node: Node) -> str:
    """Returns the module that the node comes from, such as "layers.0 (Conv2d)"; "" if unknown."""
    stack = node.meta.get("nn_module_stack") or {}
    for path, kind in reversed(list(stack.values())):
        name = kind if isinstance(kind, str) else getattr(kind, "__name__", str(kind))
        if path and "<locals>" not in name:
            return f"{path} ({name.rsplit('.', 1)[-1]})"
    return ""


def described(node: Node) -> str:
    """Returns a node's description for messages, such as "silu (aten.silu.default) in 1 (SiLU)"."""
    if node.op == "placeholder":
        return f"{node.name}, an input or constant of the program"
    where = module_of(node)
    return f"{node.name} ({target_name(node) or node.op})" + (f" in {where}" if where else "")
