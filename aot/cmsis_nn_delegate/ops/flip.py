"""flip, fliplr and flipud: dimensions in reverse order."""

from __future__ import annotations

from typing import Optional

from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Refusal
from ..graph.ir import Node
from . import rearrange
from .annotation import SameScale
from .op import Op

_TARGETS = (
    "aten.flip.default",
    "aten.fliplr.default",
    "aten.flipud.default",
)


class Flip(Op):
    """A copy that reads backwards."""

    name = "flip"
    targets = _TARGETS
    annotation = SameScale(_TARGETS)
    limits = ("any dimensions",)
    computes = False
    keeps_quant = True

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        return rearrange.refuse(node, context)

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        return rearrange.build(node, context)
