"""The largest or smallest steps along a dimension, in order."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

import numpy as np

from ..edge.nodes import first, operand
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Refusal
from ..format.record import I8, I16
from ..graph.ir import Node, Value
from .annotation import SameScale
from .case import Case
from .layouts import Layouts
from .topk import TopkOp, draw, kernel, places


def _draw(d: Case) -> Value:
    x, attrs = draw(d)
    return d.node("topk_values", [x], attrs, x.quant)


class TopkValues(TopkOp):
    """The steps themselves: with one scale and zero point, they are in the order of the numbers that they stand for,
    and nothing is requantized. There is a comparison for each number and each result."""

    name = "topk_values"
    targets = ("cmsis_nn_delegate.topk_values.default",)
    whole = targets
    annotation = SameScale(targets)
    kernels = tuple(
        kernel("topk_values", "Values", element, element, f"{element.element} [outer, count, inner]")
        for element in (I8, I16)
    )
    draws = (_draw,)
    limits = (
        "topk of more than one number, sort, msort, median and kthvalue, of more than 8 numbers, or if the indices are "
        "read, which come from topk_indices",
    )
    keeps_quant = True
    layouts = Layouts.SAME

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        source = operand(node)
        return first(
            lambda: context.refuse_tensors(node, source),
            lambda: context.refuse_quant(node, [source], same=True),
            lambda: self.refuse_numbers(node),
        )

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        return [context.node(node, self.name, [context.value(operand(node))], self.attrs_of(node, context))]

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        lines, found = places(node, inputs[0])
        values = np.take_along_axis(lines, found, axis=1)
        return values.astype(inputs[0].dtype).reshape(node.output.storage_shape)
