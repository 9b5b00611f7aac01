"""The base of operators that work on rows: along the dimension that is innermost in memory."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Optional

from ..edge.nodes import argument, shape_of
from ..edge.program_types import EdgeNode
from ..edge.refusal import Reason, Refusal
from ..graph.ir import Node, Value
from ..graph.tensor_type import Layout
from . import storage
from .attrs import SoftmaxAttrs
from .layouts import Layouts
from .op import Op


def dim_of(node: EdgeNode) -> int:
    """Returns the dimension that is the second argument of `node`, counted from 0."""
    dim: int = argument(node, 1) % max(len(shape_of(node)), 1)
    return dim


def refuse_dim(node: EdgeNode) -> Optional[Refusal]:
    """Refuses dimensions that no layout has innermost in memory."""
    shape = shape_of(node)
    if not shape:
        return Refusal(Reason.UNSUPPORTED_SHAPE, "its input has no dimension")
    dim = dim_of(node)
    if any(_is_innermost(shape, dim, channels_last) for channels_last in {False, len(shape) == 4}):
        return None
    return Refusal(
        Reason.UNSUPPORTED_PARAMETER,
        f"it works along dimension {dim} of {list(shape)}; the kernel wants the one that is innermost in memory, the "
        f"last{' or, of an image, 1' if len(shape) == 4 else ''}",
    )


class RowsOp(Op):
    """Works along dimension `attrs.dim`, the second argument of its edge nodes."""

    attrs = SoftmaxAttrs

    def carried(self, node: Node) -> Collection[int]:
        shape = node.output.shape
        return [dim for dim in range(len(shape)) if dim != node.attrs.dim] if node.inputs[0].shape == shape else ()

    def layouts_of(self, node: Node) -> Layouts:
        shape, dim = node.inputs[0].shape, node.attrs.dim
        fitting = [channels_last for channels_last in (False, True) if _is_innermost(shape, dim, channels_last)]
        if len(fitting) == 2:
            return Layouts.SAME
        return Layouts.CHANNELS_LAST if fitting == [True] else Layouts.ROW_MAJOR

    def read_reshaped(self, node: Node, reshape: Node) -> bool:
        """Takes a reshape that has the same rows along one of its input's dimensions."""
        source, output = reshape.inputs[0], reshape.output
        dim = None if storage.moves(source, output) else _innermost(source, output.shape[node.attrs.dim])
        if dim is None:
            return False
        node.attrs = SoftmaxAttrs(dim)
        return True


def rows_of(node: Node) -> tuple[int, int]:
    """Returns (rows, row size) of the input. ValueError if the dimension is not the innermost in memory."""
    value, dim = node.inputs[0], node.attrs.dim
    channels_last = storage.effective_layout(value) is Layout.CHANNELS_LAST
    if not _is_innermost(value.shape, dim, channels_last):
        raise ValueError(f"{node.name}: dimension {dim} of {value.shape} is not innermost in memory")
    return storage.rows_of(value, value.shape[dim]), value.shape[dim]


def _is_innermost(shape: Sequence[int], dim: int, channels_last: bool) -> bool:
    """Whether the elements along `dim` are next to each other in memory."""
    order = (0, 2, 3, 1) if channels_last else tuple(range(len(shape)))
    inner = order[order.index(dim) + 1 :]
    return shape[dim] == 1 or math.prod(shape[d] for d in inner) == 1


def _innermost(value: Value, row_size: int) -> Optional[int]:
    """The dimension of `value` that is innermost in memory, if it has `row_size` elements."""
    if storage.effective_layout(value) is Layout.CHANNELS_LAST:
        dim = 1
    else:
        # The last dimension that is not trivial.
        dims = [d for d, size in enumerate(value.shape) if size > 1]
        dim = dims[-1] if dims else len(value.shape) - 1
    return dim if value.shape and value.shape[dim] == row_size else None
