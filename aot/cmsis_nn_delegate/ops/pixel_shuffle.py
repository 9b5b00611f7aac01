"""pixel_shuffle, pixel_unshuffle (space to depth) and channel_shuffle."""

from __future__ import annotations

from typing import Optional

from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Refusal
from ..graph.ir import Node
from . import rearrange
from .annotation import SameScale
from .op import Op

_TARGETS = (
    "aten.pixel_shuffle.default",
    "aten.pixel_unshuffle.default",
    "aten.channel_shuffle.default",
)


class PixelShuffle(Op):
    """One copy, whole or as view, permute, view."""

    name = "pixel_shuffle"
    targets = _TARGETS
    annotation = SameScale(_TARGETS)
    limits = ("also written as view, permute, view",)
    computes = False
    keeps_quant = True

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        return rearrange.refuse(node, context)

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        return rearrange.build(node, context)
