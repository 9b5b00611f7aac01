"""slice, select, narrow and diagonal: a part of the values. split, chunk and unbind become slices."""

from __future__ import annotations

from .annotation import SameScale
from .rearrange import MovingOp

_TARGETS = (
    "aten.slice.Tensor",
    "aten.select.int",
    "aten.narrow.default",
    "aten.diagonal.default",
    "aten.unfold.default",
)


class Slice(MovingOp):
    """A copy of the part."""

    name = "slice"
    targets = (
        *_TARGETS,
        "aten.slice_copy.Tensor",
        "aten.select_copy.int",
        "aten.diagonal_copy.default",
        "aten.unfold_copy.default",
    )
    annotation = SameScale(_TARGETS)
    limits = (
        "constant bounds",
        "split, chunk, unbind and their variants become a slice for each result",
        "index_select, gather, take and x[:, indices] with constant indices become at most 16 slices of equal steps, "
        "and else a product with a matrix of at most 16384 elements; what is written at constant places (x[:, 2:4] = "
        "y, index_copy, index_fill, scatter) is a concatenation of at most 16 slices; F.unfold",
    )
