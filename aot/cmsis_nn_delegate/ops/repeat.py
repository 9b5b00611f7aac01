"""expand, repeat, tile and repeat_interleave: values that occur several times."""

from __future__ import annotations

from .annotation import SameScale
from .rearrange import MovingOp

_TARGETS = (
    "aten.expand.default",
    "aten.broadcast_to.default",
    "aten.repeat.default",
    "aten.tile.default",
    "aten.repeat_interleave.self_int",
)


class Repeat(MovingOp):
    """A copy that reads elements again."""

    name = "repeat"
    targets = (*_TARGETS, "aten.expand_copy.default")
    whole = ("aten.repeat_interleave.self_int",)
    annotation = SameScale(_TARGETS)
    limits = ("repeat_interleave with one number for all elements",)
