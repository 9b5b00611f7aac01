"""Nearest-neighbour upsampling of sequences and images."""

from __future__ import annotations

from typing import Optional

from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Refusal
from ..graph.ir import Node
from . import rearrange
from .annotation import SameScale
from .op import Op

_TARGETS = (
    "aten.upsample_nearest1d.vec",
    "aten.upsample_nearest1d.default",
    "aten.upsample_nearest2d.vec",
    "aten.upsample_nearest2d.default",
    "aten._upsample_nearest_exact1d.vec",
    "aten._upsample_nearest_exact1d.default",
    "aten._upsample_nearest_exact2d.vec",
    "aten._upsample_nearest_exact2d.default",
)


class UpsampleNearest(Op):
    """A copy that reads rows and columns again."""

    name = "upsample_nearest"
    targets = _TARGETS
    annotation = SameScale(_TARGETS)
    limits = ("scale factors that are integers; modes nearest and nearest-exact",)
    computes = False
    keeps_quant = True

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        return rearrange.refuse(node, context)

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        return rearrange.build(node, context)
