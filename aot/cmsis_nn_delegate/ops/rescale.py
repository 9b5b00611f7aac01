"""Conversion between int8 and int16, and between two scales of int16, with a factor and an addend."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Optional

import numpy as np

from ..format import blocks
from ..format.cpp import camel
from ..format.record import I8, I16, I32, Field, Scalar, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, TensorType
from . import block_values
from .annotation import NotAnnotated
from .attrs import Clamp
from .case import Case
from .channels import Bounds
from .kernel import KernelSpec
from .layouts import Layouts
from .op import Op
from .quantized_math import quantize_multiplier, requantize, to_output

# With an int16 number shifted to the left by so many bits, and such addends, no sum leaves 32 bits.
_MAX_SHIFT = 15
_MAX_ADDEND = (1 << 30) - 1


def _kernel(name: str, source: Scalar, result: Scalar, activation: Struct) -> KernelSpec:
    offset = () if source is I16 else (blocks.input_offset(),)
    return KernelSpec(
        name,
        Struct(
            f"{camel(name)}Args",
            f"{source.element} times a factor, plus an addend, as {result.element}. The output may be the input, if "
            "both have the same type.",
            (
                blocks.input("input", source, "count", doc=f"{source.element} [count]"),
                blocks.output(result, "count", doc=f"{result.element} [count]"),
                *offset,
                Field("multiplier", I32, "Q31, negative for a negative factor", low=-(2**31) + 1, high=2**31 - 1),
                blocks.shift("shift", high=_MAX_SHIFT),
                Field("addend", I32, "steps of the output", low=-_MAX_ADDEND, high=_MAX_ADDEND),
                Field("activation", activation),
                Field("count", I32, "elements"),
            ),
        ),
        priced_as="mul",
    )


KERNELS = (
    _kernel("rescale_int16", I16, I16, blocks.ACTIVATION_INT16),
    _kernel("rescale_int8_to_int16", I8, I16, blocks.ACTIVATION_INT16),
    _kernel("rescale_int16_to_int8", I16, I8, blocks.ACTIVATION),
)


@dataclass(frozen=True)
class RescaleAttrs:
    """rescale: y = clamp(factor * x + addend), in real numbers. `function` is what that computes; for people."""

    factor: float = 1.0
    addend: float = 0.0
    clamp: Clamp = Clamp()
    function: str = "requantize"


class _Numbers(NamedTuple):
    multiplier: int
    shift: int
    addend: int


def takes(source: TensorType, output: TensorType, attrs: RescaleAttrs = RescaleAttrs()) -> bool:
    """Returns whether a kernel computes this: one of the types is int16, and no step is beyond 32 bits."""
    if source.element is output.element is Element.INT8 or not source.element.is_activation:
        return False
    return output.element.is_activation and _numbers(source, output, attrs) is not None


def _numbers(source: TensorType, output: TensorType, attrs: RescaleAttrs) -> Optional[_Numbers]:
    (input_scale,), (output_scale,) = source.per_tensor.scale, output.per_tensor.scale
    factor, addend = attrs.factor * input_scale / output_scale, attrs.addend / output_scale
    if not (abs(factor) < 1 << _MAX_SHIFT and abs(addend) < 1 << 31):
        return None
    multiplier, shift = quantize_multiplier(abs(factor))
    steps = output.per_tensor.zero_point + math.floor(addend + 0.5)
    if shift > _MAX_SHIFT or abs(steps) > _MAX_ADDEND:
        return None
    return _Numbers(int(math.copysign(multiplier, factor)), shift, steps)


def _draw(d: Case) -> Value:
    narrow, wide = Element.INT8, Element.INT16
    source, result = d.pick((wide, wide), (narrow, wide), (wide, narrow))
    shape = d.pick((d.integer(1, 300),), (d.batch(), d.channels(), *d.pair(1, 6)))
    x = d.input(*shape, element=source)
    # Most results use their range; some are 0, or at its ends.
    ratio = float(2.0 ** d.random.uniform(-2, 2)) * 2.0 ** (source.bits - result.bits)
    if d.pick(False, False, True):
        ratio = float(2.0 ** d.random.uniform(-12, 24))
    scale = x.scale * ratio
    attrs = RescaleAttrs()
    if d.pick(False, True):
        factor = float(d.random.uniform(-2, 2))
        addend = float(d.random.uniform(-1, 1)) * scale * 2.0 ** (result.bits - 1)
        attrs = RescaleAttrs(factor, addend, d.clamp())
    output = d.node("rescale", [x], attrs, d.quant(scale, element=result))
    output.retype(element=result)
    return output


class Rescale(Op):
    """y = factor * x + addend: the steps of x from zero times factor * input scale / output scale, rounded as all
    products are, and the addend in steps of the output [TFLite Requantize, kernels/internal/reference/requantize.h,
    which adds the zero point alone].

    The addend is rounded to a step by itself, so that results are within 1.25 steps of the exact ones. The output may
    be stored over an input of its type.
    """

    name = "rescale"
    annotation = NotAnnotated("passes create it, where two formats meet, and from functions of one number")
    attrs = RescaleAttrs
    kernels = KERNELS
    draws = (_draw,)
    shapeless_input = True
    shapeless_output = True
    in_place = True
    layouts = Layouts.SAME
    each_channel = True

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        return self._rescaled(node, inputs[0]).reshape(node.output.storage_shape)

    def bounds(self, node: Node, inputs: Sequence[Bounds]) -> Bounds:
        ends = [self._rescaled(node, end).astype(np.int64) for end in inputs[0]]
        return Bounds(np.minimum(*ends), np.maximum(*ends))

    def carried(self, node: Node) -> Collection[int]:
        return range(len(node.output.shape)) if node.inputs[0].shape == node.output.shape else ()

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        offset = {} if node.inputs[0].element.is_symmetric else {"input_offset": -node.inputs[0].zero_point}
        return {
            **refs,
            **offset,
            **self._numbers(node)._asdict(),
            "activation": block_values.activation(node.attrs.clamp, node.output.type),
            "count": node.output.numel,
        }

    def _rescaled(self, node: Node, x: np.ndarray) -> np.ndarray:
        numbers = self._numbers(node)
        scaled = requantize(x.astype(np.int64) - node.inputs[0].zero_point, numbers.multiplier, numbers.shift)
        lo, hi = node.attrs.clamp.quantized(node.output.type)
        return to_output(scaled, numbers.addend, lo, hi, node.output.element)

    def _numbers(self, node: Node) -> _Numbers:
        found = _numbers(node.inputs[0].type, node.output.type, node.attrs)
        if found is None:
            raise ValueError(
                f"{node.name}: the output scale {node.output.scale} is too small for the input scale "
                f"{node.inputs[0].scale}; calibrate with data that reaches the range of the result"
            )
        return found
