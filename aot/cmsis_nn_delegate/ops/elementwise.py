"""Code shared by operators on two tensors of one shape."""

from __future__ import annotations

from typing import Any, Optional

from ..edge.nodes import first, shape_of
from ..edge.program_types import EdgeContext, EdgeNode
from ..edge.refusal import Reason, Refusal
from ..graph.ir import Value
from .random_case import RandomCase


def refuse(node: EdgeNode, a: Any, b: Any, context: EdgeContext) -> Optional[Refusal]:
    """Refuses anything but two activations of one shape. `a` and `b` are the operands of `node`: nodes or, in ATen
    programs, numbers."""
    return first(
        lambda: _refuse_constants(context, a, b),
        lambda: context.refuse_tensors(node, a, b),
        lambda: _refuse_broadcast(a, b),
        lambda: context.refuse_quant(node, [a, b]),
    )


def _refuse_constants(context: EdgeContext, a: Any, b: Any) -> Optional[Refusal]:
    """Refuses an operand that is not an activation."""
    # A number is a number in ATen programs and a constant of rank 0 in edge programs.
    numbers = any(isinstance(operand, (int, float)) for operand in (a, b))
    if not numbers and all(context.constant_float(operand) is None for operand in (a, b)):
        return None
    return Refusal(
        Reason.UNSUPPORTED_PARAMETER,
        "one operand is a constant; only two activations are supported: fold it into the weights and the bias of the "
        "layer before",
    )


def _refuse_broadcast(a: EdgeNode, b: EdgeNode) -> Optional[Refusal]:
    """Refuses operands of different shapes."""
    if shape_of(a) == shape_of(b):
        return None
    return Refusal(
        Reason.UNSUPPORTED_SHAPE,
        f"operands {list(shape_of(a))} and {list(shape_of(b))} need broadcasting; give both one"
        " shape, or fold a per-channel constant into the weights and the bias of the layer before",
    )


def draw_two(d: RandomCase) -> tuple[Value, Value]:
    """Images of one shape."""
    shape = d.batch(), d.channels(), *d.pair(1, 6)
    return d.input(*shape), d.input(*shape)


def draw_twice_itself(d: RandomCase) -> tuple[Value, Value]:
    """A vector, as both operands."""
    x = d.input(d.batch(), d.integer(1, 70))
    return x, x
