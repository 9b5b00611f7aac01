"""Code shared by operators that reduce dimensions to one element: sums, means, maxima and minima."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Optional

from ..edge.nodes import operand, shape_of, target_name
from ..edge.program_types import EdgeNode
from ..format import blocks
from ..format.record import I32, Field, Scalar
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, Layout
from . import storage
from .case import Case
from .features import Features
from .layouts import Layouts
from .op import Op


def operands(element: Scalar) -> tuple[Field, ...]:
    """Returns the operands of a kernel that reduces the middle one of three dimensions."""
    name = element.element
    return (
        blocks.input("input", element, "outer", "axis", "inner", doc=f"{name} [outer, axis, inner]"),
        blocks.output(element, "outer", "inner", doc=f"{name} [outer, inner]"),
    )


# Its last fields.
SIZES = (Field("outer", I32), Field("axis", I32), Field("inner", I32))

# Pools compute these of images over height, width or both.
_POOLING = ("aten.mean.dim", "aten.amax.default")
_WITH_DIMS = (*_POOLING, "aten.amin.default", "aten.sum.dim_IntList")

# The dimensions in memory order.
_ORDERS = {Layout.ROW_MAJOR: (0, 1, 2, 3), Layout.CHANNELS_LAST: (0, 2, 3, 1)}


class ReductionOp(Op):
    """The base of operators whose attributes have `dims`, the logical dimensions that are reduced, in order. The output
    of a graph node keeps them with size 1."""

    def claims(self, node: EdgeNode, context: Any) -> bool:
        return not is_pooling(node)

    def features(self, node: Node) -> Features:
        return reduced(*sizes_of(node))

    def output_shape(self, inputs: Sequence[Value], attrs: Any) -> tuple[int, ...]:
        return kept(inputs[0].shape, attrs.dims)

    def layouts_of(self, node: Node) -> Layouts:
        shape, dims = node.inputs[0].shape, node.attrs.dims
        if sizes(shape, dims, Layout.CHANNELS_LAST) is None:
            return Layouts.ROW_MAJOR
        return Layouts.CHANNELS_LAST if sizes(shape, dims, Layout.ROW_MAJOR) is None else Layouts.SAME


def dims_of(node: EdgeNode) -> tuple[int, ...]:
    """Returns the dimensions that a reduction is over, in order."""
    rank = len(shape_of(operand(node)))
    given: Any = node.args[1] if len(node.args) > 1 and target_name(node) in _WITH_DIMS else None
    given = [given] if isinstance(given, int) else given
    return tuple(sorted({dim % rank for dim in given})) if given else tuple(range(rank))


def is_pooling(node: EdgeNode) -> bool:
    """Returns whether `node` is a mean or a maximum over height, width or both of images. A mean over a sequence, an
    image of one row, is none."""
    shape = shape_of(operand(node))
    if target_name(node) not in _POOLING or len(shape) != 4 or not set(dims_of(node)) <= {2, 3}:
        return False
    return target_name(node) != "aten.mean.dim" or shape[2] > 1


def count_of(node: EdgeNode) -> int:
    """Returns how many elements a reduction makes one of."""
    shape = shape_of(operand(node))
    return math.prod(shape[dim] for dim in dims_of(node))


def window(node: EdgeNode) -> tuple[int, int]:
    """Returns the window of a pool for a node that `is_pooling`."""
    *_, height, width = shape_of(operand(node))
    dims = dims_of(node)
    return (height if 2 in dims else 1, width if 3 in dims else 1)


def kept(shape: Sequence[int], dims: Sequence[int]) -> tuple[int, ...]:
    """Returns `shape` with size 1 in place of each of `dims`."""
    return tuple(1 if dim in dims else size for dim, size in enumerate(shape))


def fits(shape: Sequence[int], dims: Sequence[int]) -> bool:
    """Returns whether `dims` are next to each other in a memory order of `shape`."""
    return any(sizes(shape, dims, layout) is not None for layout in Layout)


def sizes(shape: Sequence[int], dims: Sequence[int], layout: Layout) -> Optional[tuple[int, int, int]]:
    """Returns (outer, axis, inner), the sizes around and of the dimensions `dims` in memory; None if others lie between
    them."""
    order = _ORDERS[layout] if len(shape) == 4 else range(len(shape))
    in_memory = [(shape[dim], dim in dims) for dim in order if shape[dim] > 1]
    inside = [reduced for _, reduced in in_memory]
    begin = inside.index(True) if any(inside) else len(inside)
    end = begin + sum(inside)
    if not all(inside[begin:end]):
        return None
    parts = in_memory[:begin], in_memory[begin:end], in_memory[end:]
    outer, axis, inner = (math.prod(size for size, _ in part) for part in parts)
    return outer, axis, inner


def sizes_of(node: Node) -> tuple[int, int, int]:
    """Returns `sizes` of a graph node. ValueError if its dimensions are apart in memory."""
    source = node.inputs[0]
    found = sizes(source.shape, node.attrs.dims, storage.effective_layout(source))
    if found is None:
        raise ValueError(f"{node.name}: dimensions {node.attrs.dims} of {source.shape} are apart in memory")
    return found


def reduced(outer: int, axis: int, inner: int) -> Features:
    """Returns the features of a reduction of `axis` elements, which are `inner` elements apart."""
    return Features(
        {"outer": outer, "rows": outer * axis, "outputs": outer * inner, "values": outer * axis * inner},
        "" if inner == 1 else "columns",
    )


def size_fields(node: Node) -> Mapping[str, int]:
    """Returns the values of `SIZES`."""
    return dict(zip(("outer", "axis", "inner"), sizes_of(node)))


def draw(d: Case, element: Element = Element.INT8) -> tuple[Value, tuple[int, ...]]:
    """A tensor and dimensions of it that are next to each other."""
    shape = d.pick(
        (d.batch(), d.channels(), *d.pair(1, 6)),
        (d.integer(1, 5), d.integer(1, 40), d.integer(1, 9)),
        (d.integer(1, 300),),
    )
    rank = len(shape)
    x = d.input(*shape, element=element)
    return x, d.pick(*[(i,) for i in range(rank)], tuple(range(1, rank)) or (0,), tuple(range(rank)))
