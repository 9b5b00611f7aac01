"""Elementwise quotient of two tensors."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Refusal
from ..format import blocks
from ..format.cpp import camel
from ..format.element import KERNEL_ELEMENTS
from ..format.record import I8, I16, Field, Scalar, Struct
from ..format.schema import MAX_SHIFT
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element
from . import block_values, broadcast, elementwise
from .annotation import Elementwise
from .attrs import Clamp, Shapes
from .case import Case
from .features import Features
from .kernel import KernelSpec, named_for
from .quantized_math import quantize_multiplier

# A quotient of steps of int8 lies in [1/255, 255], and no two numbers of the output are more than 255 steps apart. With
# a larger factor every quotient is beyond that, with a smaller one all are rounded to 0. So they are of int16, where
# quotients lie in [2^-15, 2^15], but that factors end at 2^29: a larger one would need an output that ends 2^14 times
# below the quotient of the greatest numbers of both inputs.
_SHIFTS = {Element.INT8: (-9, 17), Element.INT16: (-17, MAX_SHIFT)}
_DIVIDEND_SHIFT = 17  # at most, so that a dividend has 64 bits; the divisor is shifted by the rest
_MOST_SHORT_SHIFT = 14  # of int16, for which a dividend has 32 bits (fits_words() in runtime/kernels/div/div.h)
_ENDLESS = 1 << 20  # steps of a quotient by zero


def _kernel(element: Scalar, offsets: tuple[Field, ...], activation: Struct) -> KernelSpec:
    name = named_for("div", element)
    least, most = _SHIFTS[Element(element.element)]
    return KernelSpec(
        name,
        Struct(
            f"{camel(name)}Args",
            f"{element.element} elementwise quotient of two tensors, which may be repeated along some dimensions. The "
            "output may be an input of its size.",
            (
                *broadcast.operands(element),
                *offsets,
                blocks.multiplier("output_multiplier"),
                blocks.shift("output_shift", low=least, high=most),
                Field("activation", activation),
                *broadcast.DIMS,
            ),
            geometry=broadcast.GEOMETRY,
        ),
        priced_as="" if element is I8 else "div",
    )


_OFFSETS = (blocks.input_offset("input1_offset"), blocks.input_offset("input2_offset"), blocks.output_offset())
KERNEL = _kernel(I8, _OFFSETS, blocks.ACTIVATION)
INT16 = _kernel(I16, (), blocks.ACTIVATION_INT16)


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
    scale *= 2.0 ** (8 - a.element.bits)
    return d.node("div", [a, b], DivAttrs(d.clamp(), shapes), d.quant(scale, element=a.element))


def _draw(d: Case) -> Value:
    return _draw_quotient(d, *elementwise.draw_two(d))


def _draw_by_itself(d: Case) -> Value:
    return _draw_quotient(d, *elementwise.draw_twice_itself(d))


def _draw_broadcast(d: Case) -> Value:
    return _draw_quotient(d, *broadcast.draw_two(d))


def _draw_int16(d: Case) -> Value:
    if d.pick(False, True):
        return _draw_quotient(d, *elementwise.draw_two(d, Element.INT16))
    return _draw_quotient(d, *broadcast.draw_two(d, Element.INT16))


class Div(elementwise.PairOp):
    """The quotient of both steps from zero, times scale a / (scale b * output scale), rounded once, halves away from
    zero. The factor has 31 bits; all else is exact. This arithmetic is our own.

    A quotient by zero is infinite and saturates; 0 / 0 is 0. The output may be stored over either input.
    """

    name = "div"
    targets = ("aten.div.Tensor",)
    annotation = Elementwise(("aten.div.Tensor", "aten.divide.Tensor", "aten.true_divide.Tensor"), operands=2)
    attrs = DivAttrs
    kernels = (KERNEL, INT16)
    draws = (_draw, _draw_by_itself, _draw_broadcast, _draw_int16)
    elements = KERNEL_ELEMENTS
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
        # A fraction of positive integers, each at most 2^63.
        left = min(max(shift, 0), _DIVIDEND_SHIFT)
        dividend = (np.abs(a) * multiplier).astype(np.uint64) << np.uint64(left)
        divisor = np.maximum(np.abs(b), 1).astype(np.uint64) << np.uint64(31 + left - shift)
        rounded = (dividend + divisor // np.uint64(2)) // divisor
        quotient = np.sign(b) * np.minimum(rounded, np.uint64(_ENDLESS)).astype(np.int64)
        quotient = np.sign(a) * np.where(b == 0, _ENDLESS, quotient)
        lo, hi = node.attrs.clamp.quantized(node.output.type)
        limited: np.ndarray = np.clip(quotient + node.output.zero_point, lo, hi).astype(node.output.element.numpy)
        return limited.reshape(node.output.storage_shape)

    def features(self, node: Node) -> Features:
        """Kernels multiply 32 bits if that is exact."""
        found = super().features(node)
        is_long = node.output.element is Element.INT16 and _multiplier(node)[1] > _MOST_SHORT_SHIFT
        return found._replace(counts={**found.counts, "long quotients": node.output.numel if is_long else 0})

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        multiplier, shift = _multiplier(node)
        return {
            **refs,
            **elementwise.offsets(node),
            "output_multiplier": multiplier,
            "output_shift": shift,
            "activation": block_values.activation(node.attrs.clamp, node.output.type),
            **broadcast.dims(node),
        }


def _multiplier(node: Node) -> tuple[int, int]:
    """(mantissa, shift) of the quotient."""
    a, b = (value.scale for value in node.inputs)
    factor = a / (b * node.output.scale)
    least, most = _SHIFTS[node.output.element]
    if factor < 2.0 ** (least - 1):
        return 0, 0
    return quantize_multiplier(min(factor, 2.0 ** (most - 1)))
