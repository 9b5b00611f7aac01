"""PReLU: a slope per channel for what is negative."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ..edge.nodes import first, shape_of
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format import blocks
from ..format.cpp import camel
from ..format.element import COMMON_ELEMENT, KERNEL_ELEMENTS
from ..format.record import I8, I16, I32, Field, Role, Scalar, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, Layout
from . import block_values, storage
from .annotation import Elementwise
from .attrs import Clamp
from .case import Case
from .features import Features, elements, runs
from .kernel import KernelSpec, named_for
from .layouts import Layouts
from .op import Op
from .quantized_math import quantize_multiplier, requantize, to_output

# Shifts to the left of steps, and of products of two steps, after which these have at most 31 bits.
_MAX_SHIFTS = {Element.INT8: (14, 14), Element.INT16: (14, 0)}


def _kernel(element: Scalar, offsets: tuple[Field, ...], activation: Struct) -> KernelSpec:
    name, kind = named_for("prelu", element), element.element
    positive, negative = _MAX_SHIFTS[Element(kind)]
    return KernelSpec(
        name,
        Struct(
            f"{camel(name)}Args",
            f"{kind} PReLU: positive numbers are requantized, negative ones multiplied by the slope of their channel. "
            "The output may be the input.",
            (
                blocks.input("input", element, "outer", "channels", "inner", doc=f"{kind} [outer, channels, inner]"),
                blocks.operand(Role.FILTER, "slopes", element, ("channels",), f"{kind} [channels]"),
                blocks.output(element, "outer", "channels", "inner", doc=f"{kind} [outer, channels, inner]"),
                *offsets,
                blocks.multiplier("positive_multiplier"),
                blocks.shift("positive_shift", high=positive),
                blocks.multiplier("negative_multiplier"),
                blocks.shift("negative_shift", high=negative),
                Field("activation", activation),
                Field("outer", I32),
                Field("channels", I32),
                Field("inner", I32),
            ),
        ),
        priced_as="" if element is I8 else "prelu",
    )


KERNEL = _kernel(
    I8, (blocks.input_offset(), blocks.input_offset("slope_offset"), blocks.output_offset()), blocks.ACTIVATION
)
INT16 = _kernel(I16, (), blocks.ACTIVATION_INT16)


@dataclass(frozen=True)
class PreluAttrs:
    """prelu. Inputs: x, slopes (of its type, one per channel of dimension 1, or one for all)."""

    clamp: Clamp = Clamp()


def _draw(d: Case) -> Value:
    """Slopes up to 1, sometimes far beyond; with the output's range in use, and far from it."""
    shape = d.pick((d.batch(), d.channels(), *d.pair(1, 6)), (d.batch(), d.integer(1, 40)), (2, d.channels(), 5))
    element = d.pick(Element.INT8, Element.INT8, Element.INT16)
    x = d.input(*shape, element=element)
    channels = d.pick(shape[1], shape[1], 1)
    quant = d.quant(float(2.0 ** (d.random.uniform(-10, -4) + 8 - element.bits)), element=element)
    slopes = d.constant((channels,), element, element.low, element.high, quant)
    scale = x.scale * float(2.0 ** d.random.uniform(-1, 1))
    if d.pick(False, False, True):
        scale *= float(2.0 ** d.random.uniform(-10, 20))
    return d.node("prelu", [x, slopes], PreluAttrs(d.clamp()), d.quant(scale, element=element))


class Prelu(Op):
    """Steps of at least 0 are requantized by input scale / output scale; others are multiplied by the step of the
    slope, and requantized by input scale * slope scale / output scale
    [TFLite kernels/internal/reference/prelu.h].

    The output may be stored over the input.
    """

    name = "prelu"
    targets = ("aten.prelu.default",)
    annotation = Elementwise(("aten.prelu.default",), operands=2)
    attrs = PreluAttrs
    kernels = (KERNEL, INT16)
    elements = KERNEL_ELEMENTS
    draws = (_draw,)
    limits = ("constant slopes, one per channel; with one slope it is a function",)
    in_place = True
    layouts = Layouts.SAME

    def carried(self, node: Node) -> Collection[int]:
        return [dim for dim in range(len(node.output.shape)) if dim != 1]

    def claims(self, node: EdgeNode, context: EdgeContext) -> bool:
        return not context.is_unary(node)

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        source, slopes = context.arguments(node)
        return first(
            lambda: context.refuse_tensors(node, source),
            lambda: self._refuse_slopes(slopes, context),
            lambda: context.refuse_quant(node, [source]),
            lambda: self._refuse_scales(node, context),
        )

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        source, slopes = context.arguments(node)
        value = context.operand(slopes, f"{node.name}_slopes", shape_of(slopes))
        return [context.node(node, self.name, [context.value(source), value], PreluAttrs())]

    def _refuse_slopes(self, slopes: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        constant = context.constant_float(slopes)
        if constant is None:
            return Refusal(
                Reason.NOT_CONSTANT,
                "its slopes are not constant; the kernel takes fixed ones: register them as a parameter or a buffer, "
                "or write relu(x) - slopes * relu(-x)",
            )
        if constant.quant is None:
            return Refusal(
                Reason.NOT_QUANTIZED,
                f"its weight is not int8 with one scale; {context.requantize}",
            )
        return None

    def _refuse_scales(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        source, slopes = context.arguments(node)
        scales = [context.operand_scale(x) for x in (source, slopes)]
        output = context.output_scale(node)
        element = context.operand_element(source) or COMMON_ELEMENT
        if _fit((scales[0] / output, math.prod(scales) / output), element):
            return None
        return Refusal(
            Reason.UNSUPPORTED_QUANTIZATION,
            f"output scale {output:g} is too small for an input of scale {scales[0]:g} and slopes of scale "
            f"{scales[1]:g}; calibrate with data that reaches the range of the result",
        )

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        source, slopes = node.inputs
        outer, channels, inner = self._sizes(node)
        steps = inputs[0].reshape(outer, channels, inner).astype(np.int64) - source.zero_point
        factors = slopes.constant.reshape(1, channels, 1).astype(np.int64) - slopes.zero_point
        positive, negative = self._multipliers(node)
        scaled = np.where(steps >= 0, requantize(steps, *positive), requantize(steps * factors, *negative))
        lo, hi = node.attrs.clamp.quantized(node.output.type)
        return to_output(scaled, node.output.zero_point, lo, hi, node.output.element).reshape(node.output.storage_shape)

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        return {"slopes": node.inputs[1].constant}

    def features(self, node: Node) -> Features:
        outer, channels, inner = self._sizes(node)
        count, size = (outer, channels) if inner == 1 else (outer * channels, inner)
        return Features({**elements(node), **runs(count, size)})

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        source, slopes = node.inputs
        positive, negative = self._multipliers(node)
        outer, channels, inner = self._sizes(node)
        offsets = {
            "input_offset": -source.zero_point,
            "slope_offset": -slopes.zero_point,
            "output_offset": node.output.zero_point,
        }
        return {
            **refs,
            **({} if node.output.element.is_symmetric else offsets),
            "positive_multiplier": positive[0],
            "positive_shift": positive[1],
            "negative_multiplier": negative[0],
            "negative_shift": negative[1],
            "activation": block_values.activation(node.attrs.clamp, node.output.type),
            "outer": outer,
            "channels": channels,
            "inner": inner,
        }

    def _sizes(self, node: Node) -> tuple[int, int, int]:
        """(outer, channels, inner) of the input in memory."""
        source, slopes = node.inputs
        if slopes.numel == 1:
            return 1, 1, source.numel
        channels = source.shape[1]
        if storage.effective_layout(source) is Layout.CHANNELS_LAST:
            return source.numel // channels, channels, 1
        return source.shape[0], channels, math.prod(source.shape[2:])

    def _multipliers(self, node: Node) -> tuple[tuple[int, int], tuple[int, int]]:
        """(mantissa, shift) for positive and for negative numbers."""
        source, slopes = node.inputs
        scales = source.scale / node.output.scale, source.scale * slopes.scale / node.output.scale
        if not _fit(scales, node.output.element):
            raise ValueError(f"{node.name}: the output scale {node.output.scale} is too small")
        positive, negative = map(quantize_multiplier, scales)
        return positive, negative


def _fit(factors: Sequence[float], element: Element) -> bool:
    """Returns whether the kernel takes the factors of positive and of negative numbers."""
    try:
        return all(quantize_multiplier(f)[1] <= most for f, most in zip(factors, _MAX_SHIFTS[element]))
    except ValueError:
        return False
