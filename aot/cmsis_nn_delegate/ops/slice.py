"""slice, select, narrow and diagonal: a part of the values. split, chunk and unbind become slices."""

from __future__ import annotations

from typing import Optional

from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Refusal
from ..graph.ir import Node
from . import rearrange
from .annotation import SameScale
from .op import Op

_TARGETS = (
    "aten.slice.Tensor",
    "aten.select.int",
    "aten.narrow.default",
    "aten.diagonal.default",
)


class Slice(Op):
    """A copy of the part."""

    name = "slice"
    targets = (*_TARGETS, "aten.slice_copy.Tensor", "aten.select_copy.int", "aten.diagonal_copy.default")
    annotation = SameScale(_TARGETS)
    limits = (
        "constant bounds",
        "split, chunk, unbind and their variants become a slice for each result",
    )
    computes = False
    keeps_quant = True

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        return rearrange.refuse(node, context)

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        return rearrange.build(node, context)
