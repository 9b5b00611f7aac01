"""cat, stack and the like, before their inputs are placed inside of the output."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import Any, Optional

import numpy as np

from ..edge.naming import computed_in_float
from ..edge.nodes import argument, first, shape_of
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format.element import MOVED_ELEMENTS
from ..graph.ir import Node, Value
from . import channels, storage
from .annotation import JoinedScale
from .attrs import ConcatAttrs
from .channels import Bounds, Link
from .layouts import Layouts
from .op import Op


def rows(node: Node) -> int:
    """Returns how often the inputs take turns in the memory of the output: once for each index of the dimensions that
    lie outside of the axis. Input and output consist of as many rows, and each row of the output is one of every
    input, in order."""
    output = node.output
    return math.prod(output.storage_shape[: storage.memory_axis(output, node.attrs.axis)])


class Concat(Op):
    """The inputs one after another along an axis. `place_parts` turns it into a `join`, with copies where they cannot
    be avoided.

    All inputs and the output have one scale, so that nothing is computed.
    """

    name = "concat"
    targets = ("aten.cat.default",)
    annotation = JoinedScale(
        (
            "aten.cat.default",
            "aten.concat.default",
            "aten.concatenate.default",
            "aten.stack.default",
            "aten.hstack.default",
            "aten.vstack.default",
            "aten.dstack.default",
            "aten.column_stack.default",
            "aten.row_stack.default",
        )
    )
    attrs = ConcatAttrs
    limits = (
        "any number of tensors on any axis, of which some may be constant; free of cost for activations that can be "
        "computed in their place, which is where the dimensions outside of the axis have one element in memory (images "
        "lie channels-last)",
    )
    elements = MOVED_ELEMENTS
    computes = False
    only_moves = True
    keeps_quant = True
    shapeless_input = True
    layouts = Layouts.SAME

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        tensors = list(argument(node, 0))
        activations = [tensor for tensor in tensors if context.constant_float(tensor) is None]
        return first(
            lambda: context.refuse_tensors(node, *tensors),
            lambda: context.refuse_quant(node, activations, same=True),
            lambda: self._refuse_constants(node, tensors, context),
        )

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        read = context.real_operand if computed_in_float(node) else context.operand
        inputs = [read(tensor, f"{node.name}_operand{i}") for i, tensor in enumerate(argument(node, 0))]
        if len(inputs) == 1:
            return [context.node(node, "reshape", inputs)]
        axis = context.arguments(node)[1] % len(shape_of(node))
        return [context.node(node, self.name, inputs, ConcatAttrs(axis))]

    def _refuse_constants(self, node: EdgeNode, tensors: Sequence[EdgeNode], context: EdgeContext) -> Optional[Refusal]:
        """Refuses constants of another scale than the output, which nothing would requantize."""
        if computed_in_float(node):
            return None
        alike = len({context.operand_element(tensor) for tensor in tensors}) == 1
        if alike and all(context.operand_quant(tensor) == context.output_quant(node) for tensor in tensors):
            return None
        return Refusal(
            Reason.UNSUPPORTED_QUANTIZATION,
            "one of the tensors is a constant that is not quantized like the result; "
            f"{context.requantize}, which gives all of them one scale",
        )

    def output_shape(self, inputs: Sequence[Value], attrs: Any) -> tuple[int, ...]:
        shape, axis = list(inputs[0].shape), attrs.axis
        shape[axis] = sum(value.shape[axis] for value in inputs)
        return tuple(shape)

    def write_reshaped(self, node: Node, reshape: Node) -> bool:
        """Also takes the axis of the new shape that has as many rows."""
        if storage.moves(reshape.inputs[0], reshape.output):
            return False
        count, shape = rows(node), reshape.output.storage_shape
        for axis in range(len(shape)):
            if math.prod(shape[: storage.memory_axis(reshape.output, axis)]) == count:
                node.attrs = ConcatAttrs(axis)
                return True
        return False

    def bounds(self, node: Node, inputs: Sequence[Bounds]) -> Bounds:
        if node.attrs.axis != channels.axis(node.output):
            return super().bounds(node, inputs)
        parts = [channels.by_channel(bounds, value) for bounds, value in zip(inputs, node.inputs)]
        return channels.along(Bounds(*map(np.concatenate, zip(*parts))), node.output)

    def carried(self, node: Node) -> Collection[int]:
        return [axis for axis in range(len(node.output.shape)) if axis != node.attrs.axis]

    def links(self, node: Node) -> Optional[Sequence[Link]]:
        if any(value.is_constant for value in node.inputs):
            return None
        if node.attrs.axis != channels.axis(node.output):
            return channels.links_of_each(node)
        ends = np.cumsum([channels.count(value) for value in node.inputs])
        counts = [np.arange(channels.count(value)) for value in node.inputs]
        return [Link(value, i, i + end - len(i)) for value, i, end in zip(node.inputs, counts, ends)]

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        parts = [data.reshape(rows(node), -1) for data in inputs]
        return np.concatenate(parts, axis=1).reshape(node.output.storage_shape)
