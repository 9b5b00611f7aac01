"""The graph operator for everything in PyTorch that moves values, and the base class of the operators that become one.

permute, slice, expand, flip, pixel_shuffle and the like all say, for each element of their result, which element of
their input it is. PyTorch is asked that (`EdgeContext.moved_elements`), and if loops over the input give the answer,
the operator becomes a `rearrange` with these loops. Passes merge rearrangements (`merge_rearrangements`) and turn what
is left into copies (`lower_rearrangements`).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ..edge.nodes import first, operand
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format.element import MOVED_ELEMENTS
from ..graph.ir import Node, Value
from ..graph.tensor_type import TensorType
from . import storage
from .annotation import NotAnnotated
from .layouts import Layouts
from .loops import Loops, find_loops
from .op import Op
from .strided_copy import MAX_AXES


@dataclass(frozen=True)
class RearrangeAttrs:
    """rearrange: element i of the output is the element of the input that step i of `loops` touches, both counted in
    logical row-major order. `shape` is that of the output."""

    loops: Loops
    shape: tuple[int, ...]


class Rearrange(Op):
    """Values move, repeat or are left out. `lower_rearrangements` replaces every one."""

    name = "rearrange"
    annotation = NotAnnotated("it stands for permute, slice and the other operators that move values")
    attrs = RearrangeAttrs
    computes = False
    keeps_quant = True
    layouts = Layouts.ANY

    def moved_bytes(self, node: Node) -> int:
        loops = in_memory(node.attrs.loops, node.inputs[0].type, node.output.type)
        if loops is None:  # one or two copies more
            return 2 * node.output.nbytes
        return 0 if loops.is_all_in_order(node.inputs[0].numel) else node.output.nbytes

    def output_shape(self, inputs: Sequence[Value], attrs: Any) -> tuple[int, ...]:
        shape: tuple[int, ...] = attrs.shape
        return shape


@functools.lru_cache(maxsize=256)
def in_memory(loops: Loops, source: TensorType, output: TensorType) -> Optional[Loops]:
    """Returns the loops over the memory of `source` that give the memory of `output` from its start to its end, if the
    steps of `loops` give the elements in logical order. None if the kernel cannot walk them."""
    place = np.empty(source.numel, np.int64)  # in memory, of each logical element
    place[storage.memory_order(source)] = np.arange(source.numel)
    found = find_loops(place[loops.elements()[storage.memory_order(output)]])
    return found if found is not None and len(found.sizes) <= MAX_AXES else None


class MovingOp(Op):
    """The base of operators that move the values of their first argument: each becomes a rearrange."""

    elements = MOVED_ELEMENTS
    computes = False
    keeps_quant = True

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        source = operand(node)
        return first(
            lambda: context.refuse_tensors(node, source),
            lambda: context.refuse_quant(node, [source], same=True),
            lambda: _refuse_order(node, context),
        )

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        loops = find_loops(context.moved_elements(node))
        if loops is None:
            raise ValueError(f"{node.name} moves its elements in no order of loops")
        result = context.node(node, Rearrange.name, [context.value(operand(node))])
        result.attrs = RearrangeAttrs(loops, result.output.shape)
        return [result]


def _refuse_order(node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
    loops = find_loops(context.moved_elements(node))
    if loops is not None and len(loops.sizes) <= MAX_AXES:
        return None
    return Refusal(
        Reason.UNSUPPORTED_PARAMETER,
        f"the copy kernel walks through a tensor in at most {MAX_AXES} nested loops of equal steps, which do not give "
        "this order; split it into several operators",
    )
