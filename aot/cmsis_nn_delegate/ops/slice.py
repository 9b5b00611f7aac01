"""slice, select, narrow and diagonal: a part of the values. split, chunk and unbind become slices."""

from __future__ import annotations

from .annotation import SameScale
from .rearrange import MovingOp

_TARGETS = (
    "aten.slice.Tensor",
    "aten.select.int",
    "aten.narrow.default",
    "aten.diagonal.default",
)


class Slice(MovingOp):
    """A copy of the part."""

    name = "slice"
    targets = (*_TARGETS, "aten.slice_copy.Tensor", "aten.select_copy.int", "aten.diagonal_copy.default")
    annotation = SameScale(_TARGETS)
    limits = (
        "constant bounds",
        "split, chunk, unbind and their variants become a slice for each result",
    )
