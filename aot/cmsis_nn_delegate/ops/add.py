"""Elementwise sum and difference of two tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Optional

import numpy as np

from ..edge.nodes import target_name
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format import blocks
from ..format.element import KERNEL_ELEMENTS
from ..format.record import I8, I16, I32, Field
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element
from . import block_values, broadcast, elementwise
from .annotation import Elementwise
from .attrs import AddAttrs
from .case import Case
from .channels import Bounds
from .quantized_math import quantize_multiplier, requantize, to_output, wrap32

LEFT_SHIFT = 20  # headroom that TFLite gives 8-bit sums
_LEFT_SHIFTS = {Element.INT8: LEFT_SHIFT, Element.INT16: 15}


def _scales(element: Element) -> tuple[Field, ...]:
    """The numbers that a sum without zero points is computed with."""
    left_shift = _LEFT_SHIFTS[element]
    return (
        blocks.multiplier("input1_multiplier"),
        blocks.shift("input1_shift", high=0),
        Field("input2_multiplier", I32, "Q31, negative for a difference", low=-(2**31) + 1, high=2**31 - 1),
        blocks.shift("input2_shift", high=0),
        Field("left_shift", I32, low=left_shift, high=left_shift),
        blocks.multiplier("output_multiplier"),
        blocks.shift("output_shift", high=0),
        Field("activation", blocks.ACTIVATION_INT16),
    )


_PARAMETERS = (
    blocks.input_offset("input1_offset"),
    blocks.multiplier("input1_multiplier"),
    blocks.shift("input1_shift", high=0),
    blocks.input_offset("input2_offset"),
    Field("input2_multiplier", I32, "Q31, negative for a difference", low=-(2**31) + 1, high=2**31 - 1),
    blocks.shift("input2_shift", high=0),
    Field("left_shift", I32, low=LEFT_SHIFT, high=LEFT_SHIFT),
    blocks.output_offset(),
    blocks.multiplier("output_multiplier"),
    blocks.shift("output_shift", high=0),
    Field("activation", blocks.ACTIVATION),
)

KERNEL, BROADCAST_KERNEL = broadcast.kernels("add", "elementwise sum", I8, _PARAMETERS)
INT16, BROADCAST_INT16 = broadcast.kernels("add", "elementwise sum", I16, _scales(Element.INT16))

_SUM = "aten.add.Tensor"
_DIFFERENCE = "aten.sub.Tensor"
_REVERSED_DIFFERENCE = "aten.rsub.Tensor"
_TARGETS = (_SUM, _DIFFERENCE, _REVERSED_DIFFERENCE)


def _alpha(d: Case) -> float:
    return d.pick(1.0, 1.0, 1.0, -1.0, -1.0, float(d.random.uniform(-3, 3)))


def _draw(d: Case) -> Value:
    return d.add(*elementwise.draw_two(d), d.clamp())


def _draw_twice_itself(d: Case) -> Value:
    return d.add(*elementwise.draw_twice_itself(d), d.clamp())


def _draw_scaled(d: Case) -> Value:
    return d.add(*elementwise.draw_two(d), d.clamp(), alpha=_alpha(d))


def _draw_broadcast(d: Case) -> Value:
    a, b, shapes = broadcast.draw_two(d)
    return d.add(a, b, d.clamp(), alpha=_alpha(d), shapes=shapes)


def _draw_int16(d: Case) -> Value:
    if d.pick(False, True):
        return d.add(*elementwise.draw_two(d, Element.INT16), d.clamp(), alpha=_alpha(d))
    a, b, shapes = broadcast.draw_two(d, Element.INT16)
    return d.add(a, b, d.clamp(), alpha=_alpha(d), shapes=shapes)


class Arithmetic(NamedTuple):
    """The numbers that a sum is computed with: those of both inputs and of the output, in this order."""

    zero_points: tuple[int, int, int]
    multipliers: tuple[tuple[int, int], ...]  # (mantissa, shift); no shift is positive
    limits: tuple[int, int]
    element: Element = Element.INT8

    def sum(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Elements, for integers that broadcast against each other."""
        total = np.zeros(1, np.int64)
        for data, zero_point, multiplier in zip((a, b), self.zero_points, self.multipliers):
            shifted = (data.astype(np.int64) - zero_point) << _LEFT_SHIFTS[self.element]
            total = wrap32(total + requantize(shifted, *multiplier))
        rescaled = requantize(total, *self.multipliers[2])
        return to_output(rescaled, self.zero_points[2], *self.limits, self.element)


class Add(elementwise.PairOp):
    """a + alpha * b. Both inputs are brought to twice the larger scale with `LEFT_SHIFT` more bits, 15 of int16,
    summed, and requantized [TFLite AddParam, kernels/internal/reference/add.h]. The scale of b contains |alpha|; if
    alpha is negative, so is the multiplier of b.

    The output may be stored over either input.
    """

    name = "add"
    targets = _TARGETS
    annotation = Elementwise(_TARGETS, operands=2)
    attrs = AddAttrs
    kernels = (KERNEL, BROADCAST_KERNEL, INT16, BROADCAST_INT16)
    draws = (_draw, _draw_twice_itself, _draw_broadcast, _draw_scaled, _draw_int16)
    elements = KERNEL_ELEMENTS
    limits = ("two tensors of which at most one is constant", "any alpha", *broadcast.LIMITS)

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        a, b, alpha = context.arguments(node)
        return elementwise.refuse(node, a, b, context) or self._refuse_scales(node, a, b, alpha, context)

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        _, _, alpha = context.arguments(node)
        target = target_name(node)
        order = (1, 0) if target == _REVERSED_DIFFERENCE else (0, 1)
        nodes, inputs = elementwise.build_operands(node, context, order)
        attrs = AddAttrs(alpha=float(alpha if target == _SUM else -alpha))
        return [*nodes, context.node(node, self.name, inputs, attrs)]

    def variant(self, node: Node) -> str:
        return "" if node.attrs.shapes is None else broadcast.VARIANT

    def _refuse_scales(
        self, node: EdgeNode, a: EdgeNode, b: EdgeNode, alpha: float, context: EdgeContext
    ) -> Optional[Refusal]:
        scaled = (b, a) if target_name(node) != _REVERSED_DIFFERENCE else (a, b)
        largest = max(abs(alpha) * context.operand_scale(scaled[0]), context.operand_scale(scaled[1]))
        output, element = context.output_scale(node), context.operand_element(a) or Element.INT8
        if _fits(2 * largest / ((1 << _LEFT_SHIFTS[element]) * output)):
            return None
        return Refusal(
            Reason.UNSUPPORTED_QUANTIZATION,
            f"output scale {output:g} is too small for inputs of scale {largest:g}; calibrate with "
            "data that reaches the sum's range",
        )

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        a, b = broadcast.in_memory(node, inputs)
        return self.arithmetic(node).sum(a, b).reshape(node.output.storage_shape)

    def bounds(self, node: Node, inputs: Sequence[Bounds]) -> Bounds:
        a, b = inputs
        b = b if node.attrs.alpha >= 0 else Bounds(b.high, b.low)
        arithmetic = self.arithmetic(node)
        ends = (arithmetic.sum(a.low, b.low), arithmetic.sum(a.high, b.high))
        return Bounds(*(end.astype(np.int64) for end in ends))

    def arithmetic(self, node: Node) -> Arithmetic:
        """Returns the numbers of `node`. ValueError if its output has too fine steps."""
        a, b = node.inputs
        return Arithmetic(
            (a.zero_point, b.zero_point, node.output.zero_point),
            self._multipliers(node),
            node.attrs.clamp.quantized(node.output.type),
            node.output.element,
        )

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        first, second, output = self._multipliers(node)
        return {
            **refs,
            **elementwise.offsets(node),
            "input1_multiplier": first[0],
            "input1_shift": first[1],
            "input2_multiplier": second[0],
            "input2_shift": second[1],
            "left_shift": _LEFT_SHIFTS[node.output.element],
            "output_multiplier": output[0],
            "output_shift": output[1],
            "activation": block_values.activation(node.attrs.clamp, node.output.type),
            **({"count": node.output.numel} if node.attrs.shapes is None else broadcast.dims(node)),
        }

    def _multipliers(self, node: Node) -> tuple[tuple[int, int], ...]:
        """(mantissa, shift) of both inputs and of the output; no shift is positive."""
        alpha = node.attrs.alpha
        scales = [node.inputs[0].scale, abs(alpha) * node.inputs[1].scale]
        twice_max = 2 * max(scales)
        first, second = (quantize_multiplier(scale / twice_max) for scale in scales)
        output = twice_max / ((1 << _LEFT_SHIFTS[node.output.element]) * node.output.scale)
        if not _fits(output):
            raise ValueError(
                f"{node.name}: the output scale {node.output.scale} is too small for"
                f" inputs of scale {max(scales)}; calibrate with data that reaches the sum's range"
            )
        if alpha < 0:
            second = -second[0], second[1]
        return first, second, quantize_multiplier(output)


def _fits(output_multiplier: float) -> bool:
    """Whether the kernel takes it: it shifts to the right only, and 1 - 2^-33 is rounded to 1."""
    return output_multiplier < 1 and quantize_multiplier(output_multiplier)[1] <= 0
