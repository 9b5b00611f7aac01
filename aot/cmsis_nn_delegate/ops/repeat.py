"""expand, repeat, tile and repeat_interleave: values that occur several times."""

from __future__ import annotations

from typing import Optional

from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Refusal
from ..graph.ir import Node
from . import rearrange
from .annotation import SameScale
from .op import Op

_TARGETS = (
    "aten.expand.default",
    "aten.broadcast_to.default",
    "aten.repeat.default",
    "aten.tile.default",
    "aten.repeat_interleave.self_int",
)


class Repeat(Op):
    """A copy that reads elements again."""

    name = "repeat"
    targets = (*_TARGETS, "aten.expand_copy.default")
    annotation = SameScale(_TARGETS)
    limits = ("repeat_interleave with one number for all elements",)
    computes = False
    keeps_quant = True

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        return rearrange.refuse(node, context)

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        return rearrange.build(node, context)
