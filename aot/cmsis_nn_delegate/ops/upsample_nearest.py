"""Nearest-neighbour upsampling of sequences and images by factors that are integers."""

from __future__ import annotations

from ..edge.nodes import is_dynamic, operand, shape_of
from ..edge.program_types import EdgeContext, EdgeNode
from . import resizing
from .annotation import SameScale
from .rearrange import MovingOp

TARGETS = (
    "aten.upsample_nearest1d.vec",
    "aten.upsample_nearest1d.default",
    "aten.upsample_nearest2d.vec",
    "aten.upsample_nearest2d.default",
    "aten._upsample_nearest_exact1d.vec",
    "aten._upsample_nearest_exact1d.default",
    "aten._upsample_nearest_exact2d.vec",
    "aten._upsample_nearest_exact2d.default",
)


class UpsampleNearest(MovingOp):
    """A copy that reads rows and columns again."""

    name = "upsample_nearest"
    targets = TARGETS
    whole = (
        "aten.upsample_nearest1d.vec",
        "aten.upsample_nearest2d.vec",
        "aten._upsample_nearest_exact1d.vec",
        "aten._upsample_nearest_exact2d.vec",
    )
    annotation = SameScale(TARGETS)
    limits = (
        "scale factors that are integers; modes nearest and nearest-exact; of images also others: resize_nearest",
    )

    def claims(self, node: EdgeNode, context: EdgeContext) -> bool:
        return repeats(node, context)


def repeats(node: EdgeNode, context: EdgeContext) -> bool:
    """Returns whether a node of `TARGETS` repeats each row and each column equally often."""
    source = operand(node)
    if is_dynamic(source):
        return True  # and refused for that
    return all(map(resizing.repeats, context.chosen_pixels(node), shape_of(source)[2:]))
