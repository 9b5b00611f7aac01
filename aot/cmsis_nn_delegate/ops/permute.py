"""permute, transpose, movedim and the like: the same values with dimensions in another order."""

from __future__ import annotations

from .annotation import SameScale
from .rearrange import MovingOp

_TARGETS = (
    "aten.permute.default",
    "aten.transpose.int",
    "aten.t.default",
    "aten.numpy_T.default",
    "aten.mT.default",
    "aten.adjoint.default",
    "aten.movedim.int",
    "aten.movedim.intlist",
    "aten.moveaxis.int",
    "aten.moveaxis.intlist",
    "aten.swapaxes.default",
    "aten.swapdims.default",
)


class Permute(MovingOp):
    """A copy, or nothing where the memory order stays: two that cancel, or an image [N, C, H, W], which lies
    channels-last, as [N, H, W, C]."""

    name = "permute"
    targets = (*_TARGETS, "aten.permute_copy.default", "aten.transpose_copy.int", "aten.t_copy.default")
    annotation = SameScale(_TARGETS)
    limits = ("any order; a copy only where the order in memory changes",)
