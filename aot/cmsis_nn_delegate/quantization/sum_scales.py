"""Keeps the steps of sums and differences so large that the kernel can compute them.

The difference of two tensors that are equal in all of the calibration data is zero there, so that its observer finds
the smallest step that there is. A kernel shifts to the right only: with steps a million times finer than those of the
operands it has no number for a factor, and such steps would mean nothing next to the rounding of the operands.
"""

from __future__ import annotations

from typing import Any, Optional

import torch
from torch.fx import GraphModule, Node

from .weight_scales import observer_of

aten = torch.ops.aten

_SUMS = {aten.add.Tensor, aten.sub.Tensor, aten.rsub.Tensor}
# Of the larger of the operands' steps; the kernels take 2^-19, and 2^-14 of int16.
_FINEST = 2.0**-18
_FINEST_INT16 = 2.0**-13


def coarsen_sums(prepared: GraphModule) -> None:
    """Raises the smallest scale of the observers of sums in a calibrated module where their scale is too small."""
    for node in prepared.graph.nodes:
        if node.op == "call_function" and node.target in _SUMS:
            found = [_observer(prepared, x) for x in node.args]
            output = _observer_of_result(prepared, node)
            if output is None or None in found or len(found) != 2:
                continue
            alpha = abs(float(node.kwargs.get("alpha", 1)))
            finest = _FINEST_INT16 if output.dtype == torch.int16 else _FINEST
            least = finest * max(_scale(observer) for observer in found) * max(alpha, 1.0)
            if _scale(output) < least:
                output.eps.fill_(least)


def _observer(prepared: GraphModule, node: Any) -> Any:
    """Returns the observer that is the node `node`; None if it is none with one scale."""
    found = observer_of(prepared, node)
    scaled = hasattr(found, "eps") and getattr(found, "min_val", None) is not None
    return found if scaled and found.min_val.numel() == 1 else None


def _observer_of_result(prepared: GraphModule, node: Node) -> Optional[Any]:
    """Returns the observer of the result, behind the activation that is fused."""
    for _ in range(2):
        if len(node.users) != 1:
            return None
        (node,) = node.users
        if node.op == "call_module":
            return _observer(prepared, node)
    return None


def _scale(observer: Any) -> float:
    return float(observer.calculate_qparams()[0])
