"""Code shared by operators on two tensors, element by element.

An operand is an activation or a constant, of one type either way.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Any, Optional

from ..edge.nodes import first, operand, shape_of
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format.element import KERNEL_ELEMENTS, named
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element
from . import broadcast
from .case import Case
from .features import Features, elements
from .layouts import Layouts
from .op import Op


class PairOp(Op):
    """The base of operators on two tensors, which may be repeated (`broadcast`)."""

    shapeless_input = True
    shapeless_output = True
    in_place = True
    layouts = Layouts.SAME
    each_channel = True

    def features(self, node: Node) -> Features:
        if node.attrs.shapes is None:
            return Features(elements(node))
        return Features(broadcast.counts(node.attrs.shapes), "broadcast")

    def claims(self, node: EdgeNode, context: EdgeContext) -> bool:
        return not context.is_unary(node)

    def carried(self, node: Node) -> Collection[int]:
        return range(len(node.output.shape))

    def channel_parameters(self, node: Node) -> Optional[Sequence[bytes]]:
        return None if any(value.is_constant for value in node.inputs) else super().channel_parameters(node)

    def output_shape(self, inputs: Sequence[Value], attrs: Any) -> tuple[int, ...]:
        return broadcast.output_shape([value.shape for value in inputs])


def refuse(node: EdgeNode, a: Any, b: Any, context: EdgeContext) -> Optional[Refusal]:
    """Refuses operands that are not int8, and shapes that no kernel can walk. `a` and `b` are the operands of `node`:
    nodes or, in ATen programs, numbers."""
    return first(
        lambda: _refuse_numbers(context, a, b),
        lambda: context.refuse_tensors(node, a, b),
        lambda: refuse_constants(context, a, b),
        lambda: refuse_broadcast(shape_of(a), shape_of(b)),
        lambda: context.refuse_quant(node, [x for x in (a, b) if context.constant_float(x) is None]),
        lambda: _refuse_types(context, a, b),
    )


def _refuse_numbers(context: EdgeContext, a: Any, b: Any) -> Optional[Refusal]:
    """Refuses an operand that is a number: a number in ATen programs, a constant of rank 0 in edge programs."""
    for x in (a, b):
        constant = context.constant_float(x)
        if isinstance(x, (int, float)) or (constant is not None and not constant.quantized and not constant.shape):
            return Refusal(
                Reason.UNSUPPORTED_PARAMETER,
                "one operand is a constant, a plain number; only tensors are supported: fold it into the weights and "
                "the bias of the layer before",
            )
    return None


def refuse_constants(context: EdgeContext, a: Any, b: Any) -> Optional[Refusal]:
    """Refuses constants that are not quantized with one scale."""
    constants = [context.constant_float(x) for x in (a, b)]
    if all(constants):
        return Refusal(
            Reason.UNSUPPORTED_PARAMETER, "both operands are constants: compute the result once, in __init__"
        )
    for constant in constants:
        if constant is not None and constant.quant is None:
            how = constant.dtype + (" with a scale per channel" if constant.axis is not None else "")
            return Refusal(
                Reason.UNSUPPORTED_QUANTIZATION,
                f"its constant operand is {how}; the kernels take {named(*KERNEL_ELEMENTS)} with one scale: "
                f"{context.requantize}",
            )
    return None


def _refuse_types(context: EdgeContext, a: EdgeNode, b: EdgeNode) -> Optional[Refusal]:
    """Refuses operands of two types, of which one is a constant."""
    first_type, second_type = (context.operand_element(x) for x in (a, b))
    if first_type is second_type or first_type is None or second_type is None:
        return None
    return Refusal(
        Reason.UNSUPPORTED_QUANTIZATION,
        f"its operands are {first_type.value} and {second_type.value}; the kernel takes two of one type: "
        f"{context.requantize}",
    )


def refuse_broadcast(a: Sequence[int], b: Sequence[int]) -> Optional[Refusal]:
    """Refuses operands of shapes that are repeated in more turns than a kernel has loops."""
    shapes = broadcast.shapes_of(a, b)  # which is their order in memory from rank 5 on
    if shapes is None or len(shapes[0]) <= broadcast.MAX_LOOPS:
        return None
    count = len(broadcast.loops(shapes))
    if count <= broadcast.MAX_LOOPS:
        return None
    return Refusal(
        Reason.UNSUPPORTED_SHAPE,
        f"operands {list(a)} and {list(b)} are repeated in turns, which takes {count} nested "
        f"loops, and the kernel has {broadcast.MAX_LOOPS}: expand one of them along a dimension before",
    )


def build_operands(
    node: EdgeNode, context: ImportContext, order: tuple[int, int] = (0, 1)
) -> tuple[list[Node], list[Value]]:
    """Returns both operands, with the nodes that give them the rank of the output. `order` has the arguments of `node`
    that they are."""
    rank = len(shape_of(node))
    nodes: list[Node] = []
    values = []
    for index in order:
        x = operand(node, index)
        shape = broadcast.aligned(shape_of(x), rank)
        value = context.operand(x, f"{node.name}_operand{index}", shape)
        if value.shape != shape:
            # Images of rank 4 have a memory order of their own, so that a rank is more than a name.
            nodes.append(context.node(node, "reshape", [value], None, shape, f"_operand{index}"))
            value = nodes[-1].output
        values.append(value)
    return nodes, values


def offsets(node: Node) -> Mapping[str, int]:
    """Returns the zero points of an argument block; none of types whose zero point is always 0."""
    if node.output.element.is_symmetric:
        return {}
    return {
        "input1_offset": -node.inputs[0].zero_point,
        "input2_offset": -node.inputs[1].zero_point,
        "output_offset": node.output.zero_point,
    }


def draw_two(d: Case, element: Element = Element.INT8) -> tuple[Value, Value]:
    """Images of one shape."""
    shape = d.batch(), d.channels(), *d.pair(1, 6)
    return d.input(*shape, element=element), d.input(*shape, element=element)


def draw_twice_itself(d: Case) -> tuple[Value, Value]:
    """A vector, as both operands."""
    x = d.input(d.batch(), d.integer(1, 70))
    return x, x
