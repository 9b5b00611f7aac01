"""view, flatten, squeeze, clone and the like: the same elements under another shape."""

from __future__ import annotations

from typing import Optional

from ..edge.nodes import DEQUANTIZE, RESHAPES, operand, target_name
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Refusal
from ..graph.ir import Node
from . import storage
from .annotation import SameScale
from .layouts import Layouts
from .op import Op


class Reshape(Op):
    """The elements keep their logical row-major order. `absorb_reshapes` removes every one."""

    name = "reshape"
    targets = tuple(sorted(RESHAPES))
    annotation = SameScale(
        (
            "aten.view.default",
            "aten._unsafe_view.default",
            "aten.reshape.default",
            "aten.flatten.using_ints",
            "aten.unflatten.int",
            "aten.squeeze.default",
            "aten.squeeze.dim",
            "aten.squeeze.dims",
            "aten.unsqueeze.default",
            "aten.clone.default",
            "aten.contiguous.default",
            # To another memory format; another type is left alone.
            "aten.to.dtype",
            "aten.to.dtype_layout",
            "aten._to_copy.default",
        )
    )
    limits = ("moves data only where the memory order of an image changes",)
    computes = False
    only_moves = True
    keeps_quant = True
    layouts = Layouts.ANY

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        source = operand(node)
        # Next to an operator that it only hands a float tensor to or from there is nothing to
        # compare: that operator's own check looks through it.
        alone = target_name(context.source(source)) == DEQUANTIZE
        refusal: Optional[Refusal] = context.refuse_tensors(node, source)
        if refusal is None and alone and context.output_quant(node) is not None:
            refusal = context.refuse_quant(node, [source], same=True)
        return refusal

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        return [context.node(node, self.name, [context.value(operand(node))])]

    def moved_bytes(self, node: Node) -> int:
        return node.output.nbytes if storage.moves(node.inputs[0], node.output) else 0
