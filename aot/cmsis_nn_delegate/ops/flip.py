"""flip, fliplr and flipud: dimensions in reverse order."""

from __future__ import annotations

from .annotation import SameScale
from .rearrange import MovingOp

_TARGETS = (
    "aten.flip.default",
    "aten.fliplr.default",
    "aten.flipud.default",
)


class Flip(MovingOp):
    """A copy that reads backwards."""

    name = "flip"
    targets = _TARGETS
    annotation = SameScale(_TARGETS)
    limits = ("any dimensions",)
