"""roll: elements that leave a dimension at one end come in at the other."""

from __future__ import annotations

from typing import Optional

from ..edge.nodes import first, operand, shape_of
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Refusal
from ..format.element import MOVED_ELEMENTS
from ..graph.ir import Node
from .annotation import SameScale
from .op import Op
from .pad_nd import PadMode, PadNdAttrs

_TARGETS = ("aten.roll.default",)


class Roll(Op):
    """A copy: each dimension is padded as on a ring and cut off at the other end (`pad_nd`)."""

    name = "roll"
    targets = _TARGETS
    whole = ("aten.roll.default",)
    annotation = SameScale(_TARGETS)
    limits = ("any dimensions, or all elements in a row",)
    elements = MOVED_ELEMENTS
    computes = False
    keeps_quant = True

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        source = operand(node)
        return first(
            lambda: context.refuse_tensors(node, source),
            lambda: context.refuse_quant(node, [source], same=True),
        )

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        _, shifts, dims = context.arguments(node)
        source, shape = context.value(operand(node)), shape_of(node)
        shifts = [shifts] if isinstance(shifts, int) else list(shifts)
        if not dims:  # all elements in a row
            row = (source.numel,)
            flat = context.node(node, "reshape", [source], shape=row, suffix="_flat")
            rolled = context.node(node, "pad_nd", [flat.output], _turned(row, shifts, [0]), shape=row, suffix="_rolled")
            return [flat, rolled, context.node(node, "reshape", [rolled.output])]
        dims = [dims] if isinstance(dims, int) else list(dims)
        return [context.node(node, "pad_nd", [source], _turned(shape, shifts, dims))]


def _turned(shape: tuple[int, ...], shifts: list[int], dims: list[int]) -> PadNdAttrs:
    before = [0] * len(shape)
    for shift, dim in zip(shifts, dims):
        before[dim] = (before[dim] + shift) % shape[dim]
    return PadNdAttrs(tuple(before), tuple(-count for count in before), int(PadMode.CIRCULAR))
