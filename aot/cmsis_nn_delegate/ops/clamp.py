"""relu, relu6, hardtanh and clamp, before they are fused into the operator before them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Optional

from ..edge.nodes import ACTIVATIONS, DEQUANTIZE, first, operand, target_name
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format.element import KERNEL_ELEMENTS
from ..graph.ir import Node
from .annotation import SameScale
from .attrs import Clamp as Limits
from .attrs import ClampAttrs
from .channels import Bounds
from .op import Op


def image_shape(shape: Sequence[int]) -> tuple[int, int, int, int]:
    """Returns [N, C, H, W], channels last in memory, with the same elements in the same order as `shape`."""
    if len(shape) == 4:
        n, c, h, w = shape
        return n, c, h, w
    *pixels, features = shape or (1,)
    return 1, features, math.prod(pixels), 1


class Clamp(Op):
    """y = min(max(x, lo), hi).

    After an operator that can clamp its own output it costs nothing (`fuse_activations`);
    alone it is a pooling of single pixels (`clamps_to_pooling`).
    """

    name = "clamp"
    targets = tuple(sorted(ACTIVATIONS))
    annotation = SameScale(tuple(sorted(ACTIVATIONS)))
    attrs = ClampAttrs
    limits = ("limits that are plain numbers; free of cost after a layer that can take it over",)
    elements = KERNEL_ELEMENTS
    computes = False
    keeps_quant = True
    each_channel = True

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        source = operand(node)
        alone = target_name(context.source(source)) == DEQUANTIZE
        return first(
            lambda: context.refuse_tensors(node, source),
            lambda: self._refuse_limits(node, context),
            # If it is fused, the tensor before it is never quantized.
            lambda: context.refuse_quant(node, [source] if alone else [], same=alone),
        )

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        attrs = ClampAttrs(Limits(*self._limits(node, context)))
        return [context.node(node, self.name, [context.value(operand(node))], attrs)]

    def bounds(self, node: Node, inputs: Sequence[Bounds]) -> Bounds:
        if node.inputs[0].quant != node.output.quant:
            return super().bounds(node, inputs)
        return inputs[0].limited(*node.attrs.clamp.quantized(node.output.type))

    def _limits(self, node: EdgeNode, context: EdgeContext) -> tuple[Any, Any]:
        name = target_name(node)
        if name == "aten.relu.default":
            return 0.0, math.inf
        if name == "aten.relu6.default":
            return 0.0, 6.0
        if name == "aten.clamp_min.default":
            return context.arguments(node)[1], math.inf
        if name == "aten.clamp_max.default":
            return -math.inf, context.arguments(node)[1]
        low, high = context.arguments(node)[1:3]
        return (-math.inf if low is None else low), (math.inf if high is None else high)

    def _refuse_limits(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        low, high = self._limits(node, context)
        if not all(isinstance(limit, (int, float)) for limit in (low, high)):
            return Refusal(Reason.UNSUPPORTED_PARAMETER, "its limits are tensors; use plain numbers instead")
        if not low <= high:
            return Refusal(
                Reason.UNSUPPORTED_PARAMETER,
                f"its limits are [{low}, {high}]: the lower one must not exceed the upper one",
            )
        return None
