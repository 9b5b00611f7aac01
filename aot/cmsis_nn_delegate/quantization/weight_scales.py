"""Makes room for the sums of layers that read activations of 16 bits.

A channel whose weights nearly vanish next to its bias, which training makes of channels that nobody needs, has a bias
of more steps than 32 bits count; so has a layer that reads next to nothing but zeros. Coarser weights of just these
channels are what TensorFlow Lite's converter gives such a bias, too. They lose next to nothing, and the sums stay in 32
bits, which takes half as many instructions.

Sums of many products with 16 bits may exceed 32 by themselves. Such layers have a kernel with sums of 64 bits, for
which their bias is not rounded to 32. Only transposed convolutions, which have none, get coarser weights for that.
"""

from __future__ import annotations

from typing import Any

import torch
from torch.fx import GraphModule, Node

from ..edge.naming import described
from ..format.element import COMMON_ELEMENT
from ..ops.annotation import Weighted
from ..ops.registry import OPS
from .rewriting import evaluated
from .specs import element_of_spec

_TRANSPOSED = {
    target
    for op in OPS.values()
    if isinstance(op.annotation, Weighted) and op.annotation.transposed
    for target in op.annotation.targets
}
_LAYERS = {target for op in OPS.values() if isinstance(op.annotation, Weighted) for target in op.annotation.targets}
_SUMS = 2.0**31
# Of the kernel with sums of 64 bits, which takes biases of 46.
_LONG_SUMS = 2.0**46
# What float32 may round a bias of so many steps by, and more.
_MARGIN = 2.0**-20


def make_room_for_sums(prepared: GraphModule) -> list[str]:
    """Leaves the biases of a calibrated module in float, layer by layer, where sums of products with wide activations
    might exceed 32 bits, and raises the smallest scale of the observers of weights, channel by channel, where a bias or
    a kernel needs that. Returns a sentence for each layer that loses bits of its weights by that; a channel that is
    nearly its bias alone does not."""
    notes = []
    for node in prepared.graph.nodes:
        if node.op != "call_function" or str(node.target) not in _LAYERS:
            continue
        source, weight = (observer_of(prepared, x) for x in node.args[:2])
        element = element_of_spec(source)
        values = evaluated(prepared, _behind(node.args[1]))
        if element in (None, COMMON_ELEMENT) or not hasattr(weight, "eps") or values is None:
            continue
        is_long, limit = str(node.target) not in _TRANSPOSED, _SUMS
        if not is_long:
            if len(node.args) > 6 and node.args[6] != 1:
                continue  # groups share scales: what exceeds is refused
            values = values.transpose(0, 1)
        rows = values.detach().double().reshape(len(values), -1)
        bias = evaluated(prepared, _behind((*node.args, None)[2]))
        offsets = torch.zeros(len(rows)) if bias is None else bias.detach()
        offsets = offsets.double().abs() / float(source.calculate_qparams()[0])
        most = -float(element.low)
        scale = weight.calculate_qparams()[0].double()
        steps = (rows / scale.reshape(-1, 1)).round().abs().sum(1)
        if is_long and bool((steps * most >= _SUMS * (1 - _MARGIN)).any()):
            _keep_in_float(node, 2)
            limit = _LONG_SUMS
        exceeding = steps * most + offsets / scale >= limit * (1 - _MARGIN)
        room = limit * (1 - _MARGIN) - rows.shape[1] * most / 2  # less what rounding may add
        if not bool(exceeding.any()) or room <= 0:
            continue
        least = torch.where(exceeding, (rows.abs().sum(1) * most + offsets) / room, 0.0)
        if scale.numel() == 1:
            least = least.amax().reshape(1)
        weight.eps = torch.maximum(weight.eps, least.to(weight.eps.dtype))
        if bool((steps * most >= limit).any()):
            notes.append(
                f"{described(node)}: the steps of its weights are up to {float((least / scale).max()):.1f} times "
                f"larger, so that sums of {rows.shape[1]} products with {element.value} fit 32 bits; it may be more "
                f"exact in the format {COMMON_ELEMENT.value}"
            )
    return notes


def _keep_in_float(node: Node, index: int) -> None:
    """Takes the observer of an argument away, if `node` has one there."""
    observed: Any = (*node.args, *[None] * index)[index]
    if isinstance(observed, Node) and observed.op == "call_module":
        node.update_arg(index, observed.args[0])
        if not observed.users:
            observed.graph.erase_node(observed)


def observer_of(prepared: GraphModule, node: Any) -> Any:
    """Returns the observer that is the node `node`; None if it is none that has a scale."""
    if not isinstance(node, Node) or node.op != "call_module":
        return None
    found: Any = prepared.get_submodule(str(node.target))
    found = getattr(found, "activation_post_process", found)
    return found if hasattr(found, "calculate_qparams") else None


def _behind(node: Any) -> Any:
    """Returns what an observer sees, or `node` itself."""
    return node.args[0] if isinstance(node, Node) and node.op == "call_module" else node
