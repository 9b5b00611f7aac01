"""Elementwise product of two tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any, Optional

import numpy as np

from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format import blocks
from ..format.element import KERNEL_ELEMENTS
from ..format.record import I8, I16, Field
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element
from . import block_values, broadcast, elementwise
from .annotation import Elementwise
from .attrs import Clamp, Shapes
from .case import Case
from .channels import Bounds
from .quantized_math import quantize_multiplier, requantize, to_output

_PARAMETERS = (
    blocks.input_offset("input1_offset"),
    blocks.input_offset("input2_offset"),
    blocks.output_offset(),
    blocks.multiplier("output_multiplier"),
    blocks.shift("output_shift"),
    Field("activation", blocks.ACTIVATION),
)

_INT16_PARAMETERS = (
    blocks.multiplier("output_multiplier"),
    blocks.shift("output_shift"),
    Field("activation", blocks.ACTIVATION_INT16),
)

KERNEL, BROADCAST_KERNEL = broadcast.kernels("mul", "elementwise product", I8, _PARAMETERS)
INT16, BROADCAST_INT16 = broadcast.kernels("mul", "elementwise product", I16, _INT16_PARAMETERS)


@dataclass(frozen=True)
class MulAttrs:
    """mul. Inputs: a, b. `lay_out_operands` sets `shapes`."""

    clamp: Clamp = Clamp()
    shapes: Optional[Shapes] = None


def draw_product(d: Case, a: Value, b: Value, shapes: Optional[Shapes] = None) -> Value:
    """Products of int8 numbers have about 2^13 steps, those of int16 2^29: scales that use the output's range, and some
    far from it."""
    scale = a.scale * b.scale * float(2.0 ** d.random.uniform(4, 9)) * 2.0 ** (a.element.bits - 8)
    if d.pick(False, False, True):
        scale *= float(2.0 ** d.random.uniform(-20, 20))
    return d.node("mul", [a, b], MulAttrs(d.clamp(), shapes), d.quant(scale, element=a.element))


def _draw(d: Case) -> Value:
    return draw_product(d, *elementwise.draw_two(d))


def _draw_square(d: Case) -> Value:
    return draw_product(d, *elementwise.draw_twice_itself(d))


def _draw_broadcast(d: Case) -> Value:
    return draw_product(d, *broadcast.draw_two(d))


def _draw_int16(d: Case) -> Value:
    if d.pick(False, True):
        return draw_product(d, *elementwise.draw_two(d, Element.INT16))
    return draw_product(d, *broadcast.draw_two(d, Element.INT16))


class Mul(elementwise.PairOp):
    """The product of both steps from zero, requantized by scale a * scale b / output scale
    [TFLite kernels/internal/reference/mul.h].

    The output may be stored over either input.
    """

    name = "mul"
    targets = ("aten.mul.Tensor",)
    annotation = Elementwise(("aten.mul.Tensor",), operands=2)
    attrs = MulAttrs
    kernels = (KERNEL, BROADCAST_KERNEL, INT16, BROADCAST_INT16)
    draws = (_draw, _draw_square, _draw_broadcast, _draw_int16)
    elements = KERNEL_ELEMENTS
    limits = (
        "two tensors of which at most one is constant",
        "where and masked_fill are products and their sum, if the condition is constant or computed: a comparison of "
        "activations, or of what an index is, and what combines these, any and all included",
        "torch.cond: both branches are computed, and chosen from by a product",
        "cumprod: in steps, each with the products of elements that lie 1, 2, 4, ... apart; tril and triu",
        *broadcast.LIMITS,
    )

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        a, b = context.arguments(node)
        return elementwise.refuse(node, a, b, context) or self._refuse_scales(node, a, b, context)

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        nodes, inputs = elementwise.build_operands(node, context)
        return [*nodes, context.node(node, self.name, inputs, MulAttrs())]

    def variant(self, node: Node) -> str:
        return "" if node.attrs.shapes is None else broadcast.VARIANT

    def _refuse_scales(self, node: EdgeNode, a: EdgeNode, b: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        inputs = [context.operand_scale(x) for x in (a, b)]
        output = context.output_scale(node)
        try:
            quantize_multiplier(inputs[0] * inputs[1] / output)
        except ValueError:
            return Refusal(
                Reason.UNSUPPORTED_QUANTIZATION,
                f"output scale {output:g} is too small for inputs of scales {inputs[0]:g} and {inputs[1]:g}; calibrate "
                "with data that reaches the product's range",
            )
        return None

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        return self._product(node, broadcast.in_memory(node, inputs)).reshape(node.output.storage_shape)

    def bounds(self, node: Node, inputs: Sequence[Bounds]) -> Bounds:
        # A product of intervals has its extremes at their ends.
        corners = np.broadcast_arrays(*(self._product(node, ends) for ends in product(*inputs)))
        return Bounds(np.min(corners, axis=0).astype(np.int64), np.max(corners, axis=0).astype(np.int64))

    def _product(self, node: Node, operands: Sequence[np.ndarray]) -> np.ndarray:
        """Elements of the output, for integers that broadcast against each other."""
        steps = [data.astype(np.int64) - value.zero_point for value, data in zip(node.inputs, operands)]
        total = requantize(steps[0] * steps[1], *self.multiplier(node))
        lo, hi = node.attrs.clamp.quantized(node.output.type)
        return to_output(total, node.output.zero_point, lo, hi, node.output.element)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        multiplier, shift = self.multiplier(node)
        return {
            **refs,
            **elementwise.offsets(node),
            "output_multiplier": multiplier,
            "output_shift": shift,
            "activation": block_values.activation(node.attrs.clamp, node.output.type),
            **({"count": node.output.numel} if node.attrs.shapes is None else broadcast.dims(node)),
        }

    def multiplier(self, node: Node) -> tuple[int, int]:
        """(mantissa, shift) of the product."""
        a, b = (value.scale for value in node.inputs)
        return quantize_multiplier(a * b / node.output.scale)
