"""pixel_shuffle, pixel_unshuffle (space to depth) and channel_shuffle."""

from __future__ import annotations

from .annotation import SameScale
from .rearrange import MovingOp

_TARGETS = (
    "aten.pixel_shuffle.default",
    "aten.pixel_unshuffle.default",
    "aten.channel_shuffle.default",
)


class PixelShuffle(MovingOp):
    """One copy, whole or as view, permute, view."""

    name = "pixel_shuffle"
    targets = _TARGETS
    whole = (
        "aten.pixel_shuffle.default",
        "aten.pixel_unshuffle.default",
        "aten.channel_shuffle.default",
    )
    annotation = SameScale(_TARGETS)
    limits = ("also written as view, permute, view",)
