"""Nearest-neighbour upsampling of sequences and images."""

from __future__ import annotations

from .annotation import SameScale
from .rearrange import MovingOp

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


class UpsampleNearest(MovingOp):
    """A copy that reads rows and columns again."""

    name = "upsample_nearest"
    targets = _TARGETS
    annotation = SameScale(_TARGETS)
    limits = ("scale factors that are integers; modes nearest and nearest-exact",)
