"""Checks and imports of linear layers whose constant weights have 4 bits and a scale for each group of inputs."""

from __future__ import annotations

from typing import Optional

import numpy as np

from ..edge.constant import Constant
from ..edge.program_types import EdgeContext, EdgeNode
from ..edge.refusal import Reason, Refusal
from ..format.element import COMMON_ELEMENT
from ..graph.ir import Value
from ..graph.tensor_type import Element, Quant, TensorType
from .constant_weights import Operands, weight_of
from .group_factors import MAX_NARROWING, GroupFactors, group_factors, largest_products
from .quantized_math import INT32_MAX, quantize_multipliers

# Of a step of the output: as much as rounding to the output's own steps changes a number.
_MAX_ERROR = 0.5
_AGAIN = (
    "or prepare the model with CmsisNnQuantizer, as compile_model does, which quantizes the numbers that the weights "
    "stand for again"
)


def of_groups(operands: Operands, context: EdgeContext) -> Optional[Constant]:
    """Returns the weight, [out, in], if it has a scale for each group of inputs; None if not, or if the scales of a
    channel are all the same, which is a scale for each channel."""
    found = weight_of(operands, context)
    return found if found is not None and found.group is not None else None


def check(node: EdgeNode, operands: Operands, context: EdgeContext, weight: Constant) -> Optional[Refusal]:
    """Returns why the kernel does not take `weight`, as far as that is known without data."""
    if weight.axis != 1:
        return Refusal(
            Reason.UNSUPPORTED_QUANTIZATION,
            "its weight has scales for groups of outputs; the kernel takes groups of inputs: quantize the weight as "
            f"nn.Linear has it, [out, in], with blocks of (1, group), {_AGAIN}",
        )
    if not weight.has_limits_of(Element.INT4):
        return Refusal(
            Reason.UNSUPPORTED_QUANTIZATION,
            f"its weight is {weight.dtype} with limits of {weight.limits} and a scale for each {weight.group} inputs; "
            f"the kernel for groups takes {Element.INT4.range_text}: use 4 bits, or 8 with a scale for each output "
            f"channel, {_AGAIN}",
        )
    if context.operand_element(operands.source) is not COMMON_ELEMENT:
        return Refusal(
            Reason.UNSUPPORTED_QUANTIZATION,
            f"its weight has a scale for each {weight.group} inputs, and the kernel for groups takes activations of "
            f"{COMMON_ELEMENT.value} alone: give its module that format, or its weight a scale for each output channel",
        )
    return None


def check_data(node: EdgeNode, operands: Operands, context: EdgeContext, weight: Constant) -> Optional[Refusal]:
    """Returns why the kernel cannot take the numbers of a node that `check` accepted."""
    if weight.data is None or weight.scales is None or weight.zero_points is None:
        raise ValueError(f"{operands.weight.name} is not a quantized constant with data")
    if np.any(weight.zero_points != 0):
        return Refusal(
            Reason.UNSUPPORTED_QUANTIZATION,
            "its weight has zero points other than 0; the kernel for groups takes symmetric weights: use a symmetric "
            f"mapping, {_AGAIN}",
        )
    if weight.element is not Element.INT4:
        return Refusal(
            Reason.UNSUPPORTED_QUANTIZATION,
            f"its weight has numbers outside of its limits, {weight.limits}; convert the model again",
        )
    if not (np.all(np.isfinite(weight.scales)) and np.all(weight.scales > 0)):
        return Refusal(
            Reason.UNSUPPORTED_QUANTIZATION,
            "a scale of its weight is not a positive number; calibrate and convert the model again",
        )
    x, output_scale = _source(operands, context), context.output_scale(node)
    if np.any(largest_products(weight.data, weight.scales.shape[1], x) > INT32_MAX):
        return Refusal(
            Reason.TOO_LARGE,
            f"the sum of a group of {weight.group} products may exceed 32 bits; use smaller groups",
        )
    found = _factors(operands, context, weight, output_scale)
    try:
        quantize_multipliers(x.per_tensor.scale[0] * found.scales / output_scale)
    except ValueError:
        return Refusal(
            Reason.UNSUPPORTED_QUANTIZATION,
            f"input scale {x.per_tensor.scale[0]:g} * weight scale / output scale {output_scale:g} does not fit the "
            "kernel's multipliers; calibrate with representative data",
        )
    worst = int(np.argmax(found.error))
    if found.error[worst] > _MAX_ERROR or found.narrowing > MAX_NARROWING:
        return Refusal(
            Reason.UNSUPPORTED_QUANTIZATION,
            f"the scales of the groups of output {worst}, as factors of 15 bits, might change it by "
            f"{found.error[worst]:.2g} steps, more than {_MAX_ERROR}: its sums or its bias are far larger than the "
            "range of the output; calibrate with representative data, or give its weight a scale per output channel",
        )
    return None


def build(
    node: EdgeNode, operands: Operands, context: EdgeContext, weight: Constant
) -> tuple[tuple[Value, Value, Value], int]:
    """Returns (weight, factors, bias) of a node that `check` and `check_data` accepted, and how many bits the sum loses
    before the bias is added."""
    if weight.data is None:
        raise ValueError(f"{operands.weight.name} is not a quantized constant with data")
    name, channels, input_scale = operands.weight.name, weight.shape[0], context.input_scale(operands.source)
    found = _factors(operands, context, weight, context.output_scale(node))
    quant = Quant(tuple(map(float, found.scales)), 0, 0)
    bias_quant = Quant(tuple(float(input_scale * scale) for scale in found.scales), 0, 0)
    return (
        Value(name, TensorType(Element.INT4, weight.shape, quant=quant), np.ascontiguousarray(weight.data)),
        Value(f"{name}_factors", TensorType(Element.INT16, found.factors.shape), found.factors),
        Value(f"{name}_bias", TensorType(Element.INT32, (channels,), quant=bias_quant), found.bias.astype(np.int32)),
    ), found.narrowing


def _factors(operands: Operands, context: EdgeContext, weight: Constant, output_scale: float) -> GroupFactors:
    if weight.data is None or weight.scales is None:
        raise ValueError(f"{operands.weight.name} is not a quantized constant with data")
    bias = np.zeros(weight.shape[0])
    if operands.bias is not None:
        found = context.constant_float(operands.bias)
        if found is None or found.data is None:
            raise ValueError(f"{operands.bias.name} is not a constant with data")
        bias = found.data.astype(np.float64)
        if found.scales is not None and found.zero_points is not None:
            bias = (found.data.astype(np.int64) - found.zero_points) * found.scales
    return group_factors(weight.data, weight.scales, bias, _source(operands, context), output_scale)


def _source(operands: Operands, context: EdgeContext) -> TensorType:
    """The type of the input, as far as sums depend on it."""
    return TensorType(COMMON_ELEMENT, (), quant=context.input_quant(operands.source))
