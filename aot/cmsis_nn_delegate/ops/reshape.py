"""view, flatten, squeeze, clone and the like: the same elements under another shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

import numpy as np

from ..edge.nodes import DEQUANTIZE, RESHAPES, operand, target_name
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Refusal
from ..format.element import MOVED_ELEMENTS
from ..graph.ir import Node
from . import channels, storage
from .annotation import SameScale
from .channels import Bounds, Link
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
    elements = MOVED_ELEMENTS
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

    def bounds(self, node: Node, inputs: Sequence[Bounds]) -> Bounds:
        source, output, x = node.inputs[0], node.output, inputs[0]
        if not self._keeps_batch(node):
            ones = (1,) * len(output.shape)
            return Bounds(x.low.min().reshape(ones), x.high.max().reshape(ones))
        one = (1, *source.shape[1:])
        return Bounds(*(np.broadcast_to(side, one).reshape(1, *output.shape[1:]) for side in x))

    def links(self, node: Node) -> Optional[Sequence[Link]]:
        if not self._keeps_batch(node):
            return None
        before, after = (channels.of_elements(value) for value in (node.inputs[0], node.output))
        inputs, outputs = np.unique(np.stack((before, after)), axis=1)
        return [Link(node.inputs[0], inputs, outputs)]

    def channel_parameters(self, node: Node) -> Optional[Sequence[bytes]]:
        """The place of each element of the output within its channel of the input, if all of them are channels."""
        source, output = node.inputs[0], node.output
        if not self._keeps_batch(node) or channels.count(output) * output.shape[0] != output.numel:
            return None
        of = channels.of_elements(source)
        places = np.zeros(len(of), np.int64)
        for channel in range(channels.count(source)):
            places[of == channel] = np.arange(np.count_nonzero(of == channel))
        return [place.tobytes() for place in places]

    def _keeps_batch(self, node: Node) -> bool:
        """Returns whether the first dimension stays, and is not that of the channels."""
        shapes = node.inputs[0].shape, node.output.shape
        return min(map(len, shapes)) > 1 and shapes[0][0] == shapes[1][0]

    def moved_bytes(self, node: Node) -> int:
        return node.output.nbytes if storage.moves(node.inputs[0], node.output) else 0
