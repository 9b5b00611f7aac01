"""int8 elementwise quotient of two tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Refusal
from ..format import blocks
from ..format.record import Field, Struct
from ..graph.ir import Node, Value
from . import block_values, broadcast, elementwise
from .annotation import Elementwise
from .attrs import Clamp, Shapes
from .case import Case
from .kernel import KernelSpec
from .quantized_math import quantize_multiplier

# A quotient of steps lies in [1/255, 255], and no two numbers of the output are more than 255 steps apart. With a
# larger factor every quotient is beyond that, with a smaller one all are rounded to 0.
_MAX_SHIFT = 17
_MIN_SHIFT = -9
_ENDLESS = 1 << 20  # steps of a quotient by zero

KERNEL = KernelSpec(
    "div",
    Struct(
        "DivArgs",
        "int8 elementwise quotient of two tensors, which may be repeated along some dimensions. The output may be an "
        "input of its size.",
        (
            *broadcast.OPERANDS,
            blocks.input_offset("input1_offset"),
            blocks.input_offset("input2_offset"),
            blocks.output_offset(),
            blocks.multiplier("output_multiplier"),
            blocks.shift("output_shift", low=_MIN_SHIFT, high=_MAX_SHIFT),
            Field("activation", blocks.ACTIVATION),
            *broadcast.DIMS,
        ),
        geometry=broadcast.GEOMETRY,
    ),
)


@dataclass(frozen=True)
class DivAttrs:
    """div. Inputs: a, b. `lay_out_operands` sets `shapes`."""

    clamp: Clamp = Clamp()
    shapes: Optional[Shapes] = None


def _draw_quotient(d: Case, a: Value, b: Value, shapes: Optional[Shapes] = None) -> Value:
    """Scales that use the output's range, and some far from it."""
    scale = a.scale / b.scale * float(2.0 ** d.random.uniform(-8, 2))
    if d.pick(False, False, True):
        scale *= float(2.0 ** d.random.uniform(-20, 20))
    return d.node("div", [a, b], DivAttrs(d.clamp(), shapes), d.quant(scale))


def _draw(d: Case) -> Value:
    return _draw_quotient(d, *elementwise.draw_two(d))


def _draw_by_itself(d: Case) -> Value:
    return _draw_quotient(d, *elementwise.draw_twice_itself(d))


def _draw_broadcast(d: Case) -> Value:
    return _draw_quotient(d, *broadcast.draw_two(d))


class Div(elementwise.PairOp):
    """The quotient of both steps from zero, times scale a / (scale b * output scale), rounded once, halves away from
    zero. The factor has 31 bits; all else is exact. This arithmetic is our own.

    A quotient by zero is infinite and saturates; 0 / 0 is 0. The output may be stored over either input.
    """

    name = "div"
    targets = ("aten.div.Tensor",)
    annotation = Elementwise(("aten.div.Tensor", "aten.divide.Tensor", "aten.true_divide.Tensor"), operands=2)
    attrs = DivAttrs
    kernels = (KERNEL,)
    draws = (_draw, _draw_by_itself, _draw_broadcast)
    limits = (
        "two tensors of which at most one is constant; a quotient by zero saturates, and 0 / 0 is 0",
        *broadcast.LIMITS,
    )

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        a, b = context.arguments(node)
        return elementwise.refuse(node, a, b, context)

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        nodes, inputs = elementwise.build_operands(node, context)
        return [*nodes, context.node(node, self.name, inputs, DivAttrs())]

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        operands = broadcast.in_memory(node, inputs)
        a, b = (data.astype(np.int64) - value.zero_point for value, data in zip(node.inputs, operands))
        multiplier, shift = _multiplier(node)
        # A fraction of positive integers, each less than 2^57.
        dividend = (np.abs(a) * multiplier) << max(shift, 0)
        divisor = np.maximum(np.abs(b), 1) << (31 - min(shift, 0))
        quotient = np.sign(b) * ((dividend + divisor // 2) // divisor)
        quotient = np.sign(a) * np.where(b == 0, _ENDLESS, quotient)
        lo, hi = node.attrs.clamp.quantized(node.output.type)
        limited: np.ndarray = np.clip(quotient + node.output.zero_point, lo, hi).astype(np.int8)
        return limited.reshape(node.output.storage_shape)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        multiplier, shift = _multiplier(node)
        return {
            **refs,
            "input1_offset": -node.inputs[0].zero_point,
            "input2_offset": -node.inputs[1].zero_point,
            "output_offset": node.output.zero_point,
            "output_multiplier": multiplier,
            "output_shift": shift,
            "activation": block_values.activation(node.attrs.clamp, node.output.type),
            **broadcast.dims(node),
        }


def _multiplier(node: Node) -> tuple[int, int]:
    """(mantissa, shift) of the quotient."""
    a, b = (value.scale for value in node.inputs)
    factor = a / (b * node.output.scale)
    if factor < 2.0 ** (_MIN_SHIFT - 1):
        return 0, 0
    return quantize_multiplier(min(factor, 2.0 ** (_MAX_SHIFT - 1)))
