"""Where the largest or smallest numbers along a dimension are, in order, as int64 at the border of the graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

import numpy as np

from ..edge.nodes import first, operand
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Refusal
from ..format.record import I8, I16, I64
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, Layout
from .annotation import IndexOutput
from .case import Case
from .layouts import Layouts
from .topk import TopkOp, draw, kernel, places


def _draw(d: Case) -> Value:
    x, attrs = draw(d)
    if x.layout is Layout.CHANNELS_LAST:
        x.retype(layout=Layout.ROW_MAJOR)
    output = d.node("topk_indices", [x], attrs, None)
    output.retype(element=Element.INT64, layout=Layout.ROW_MAJOR)
    return output


class TopkIndices(TopkOp):
    """The places of `topk_values`. Its result is int64, as in PyTorch, so that nothing in the delegate reads it."""

    name = "topk_indices"
    targets = ("cmsis_nn_delegate.topk_indices.default",)
    whole = targets
    annotation = IndexOutput(targets)
    kernels = tuple(
        kernel("topk_indices", "Places", element, I64, "int64 [outer, count, inner], of any alignment")
        for element in (I8, I16)
    )
    draws = (_draw,)
    limits = (
        "the indices of topk of more than one number, sort and argsort, int64; they leave the delegate",
        "those of median and kthvalue are chosen from them outside of it",
    )
    gives_index = True
    layouts = Layouts.ROW_MAJOR

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        source = operand(node)
        return first(
            lambda: context.refuse_tensors(source),
            lambda: context.refuse_input_quant(node, source),
            lambda: self.refuse_numbers(node),
        )

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        found = context.node(node, self.name, [context.value(operand(node))], self.attrs_of(node, context))
        found.output.retype(element=Element.INT64)
        return [found]

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        _, found = places(node, inputs[0])
        return found.reshape(node.output.storage_shape)
