"""Checks and imports shared by conv2d, depthwise_conv2d and fully_connected: constant weights
with one scale, or one per output channel, and a bias in steps of input scale * weight scale."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple, Optional

import numpy as np

from ..edge.constant import Constant
from ..edge.program_types import EdgeContext, EdgeNode
from ..edge.refusal import Reason, Refusal
from ..format.element import COMMON_ELEMENT
from ..graph.ir import Value
from ..graph.tensor_type import Element, Quant, TensorType
from .quantized_math import quantize_multipliers

# The largest float32 below 2^31. PyTorch quantizes in float32: a bias that does not fit silently becomes one of
# the values beyond this limit, with either sign.
_MAX_BIAS = 2**31 - 128
# Of int16, of the operator `WIDE`.
_MAX_LONG_BIAS = 2**46 - 1
_MAX_LONG_SHIFT = 14
# The operator that computes layers whose sums may exceed 32 bits.
WIDE = "conv2d_wide"
# What users have to know of layers with weights.
INT16_LIMIT = (
    "int16 activations: biases and sums of 32 bits, or of 64, with weights of 8, where the compiler does not prove "
    "that 32 suffice"
)
INT16_SHORT_LIMIT = (
    "int16 activations: weights of 8 bits, biases and sums of 32 bits; a layer whose sums may exceed these is refused"
)
INT4_LIMIT = "weights of 4 bits"


class Operands(NamedTuple):
    """The operands of a layer with weights."""

    source: EdgeNode
    weight: EdgeNode
    bias: Optional[EdgeNode]
    transposed: bool = False  # whether the weight is [in, out]
    # Of a transposed convolution, whose weight is [in, out / groups, h, w]; 0 for other layers.
    transposed_groups: int = 0


def refuse_variable(operands: Operands, context: EdgeContext) -> Optional[Refusal]:
    """Refuses a weight or bias that is computed or passed in."""
    for name, operand in (("weight", operands.weight), ("bias", operands.bias)):
        if operand is not None and context.constant_float(operand) is None:
            return Refusal(
                Reason.NOT_CONSTANT,
                f"its {name} is not a constant; only layers with fixed parameters are supported",
            )
    return None


def check(node: EdgeNode, operands: Operands, context: EdgeContext) -> Optional[Refusal]:
    """Returns why a kernel does not support how the weight of `node` is quantized, as far as that is known without
    data. Expects int8 input and output, and constants."""
    found = weight_of(operands, context)
    if found is None:
        return refuse_variable(operands, context)
    if not found.quantized:
        return Refusal(
            Reason.NOT_QUANTIZED,
            f"its weight is not quantized; {context.requantize}",
        )
    if found.dtype != "int8":
        return Refusal(
            Reason.UNSUPPORTED_QUANTIZATION,
            f"its weight is {found.dtype}; the kernels take int8: {context.requantize}",
        )
    if found.group is not None:
        return Refusal(
            Reason.UNSUPPORTED_QUANTIZATION,
            f"its weight has a scale for each {found.group} inputs, which only linear layers take: give it one per "
            f"output channel, or {context.requantize}",
        )
    if found.axis not in (None, 0):
        return Refusal(
            Reason.UNSUPPORTED_QUANTIZATION,
            f"its weight has a scale per index of dimension {found.axis}; the kernels take one per "
            "output channel: use ch_axis=0, as CmsisNnQuantizer does",
        )
    if found.axis is not None or found.scales is None:
        return None
    return _refuse_scales(node, operands, context, found.scales, found.zero_points)


def check_data(node: EdgeNode, operands: Operands, context: EdgeContext) -> Optional[Refusal]:
    """Returns why a kernel cannot take the data of a node that `check` accepted: scales per channel and the bias."""
    found = weight_of(operands, context)
    if found is None or found.scales is None:
        raise ValueError(f"{operands.weight.name} is not a quantized constant with data")
    if found.axis is not None:
        refusal = _refuse_scales(node, operands, context, found.scales, found.zero_points)
        if refusal is not None:
            return refusal
    steps = np.zeros(1, np.int64)
    if operands.bias is not None:
        steps = _bias_steps(operands.bias, context, context.input_scale(operands.source), found.scales)
    if _takes_long(operands, context):
        return _refuse_long(node, operands, context, found, steps)
    if np.any(np.abs(steps) > _MAX_BIAS):
        return Refusal(
            Reason.UNSUPPORTED_QUANTIZATION,
            "its bias exceeds 32 bits in steps of input scale * weight scale, as the weights of a "
            "channel are tiny next to its bias; scale them up or remove that channel",
        )
    if found.data is not None and _is_long(operands, context, found.data, steps):
        wide = context.operand_element(operands.source) not in (None, COMMON_ELEMENT)
        return Refusal(
            Reason.TOO_LARGE,
            f"sums of {found.data[0].size} products may exceed 32 bits with these weights; split its input "
            "into two layers, and add their results" + f", or give its module the format {COMMON_ELEMENT.value}" * wide,
        )
    return None


def _takes_long(operands: Operands, context: EdgeContext) -> bool:
    """Returns whether there is a kernel with sums of 64 bits for this layer."""
    return context.operand_element(operands.source) is Element.INT16 and not operands.transposed_groups


def _refuse_long(
    node: EdgeNode, operands: Operands, context: EdgeContext, weight: Constant, steps: np.ndarray
) -> Optional[Refusal]:
    """Refuses what the kernels with sums of 64 bits do not take either, if the sums may exceed 32."""
    bias = None if operands.bias is None else context.constant_float(operands.bias)
    limit = _MAX_LONG_BIAS if bias is None or not bias.quantized else _MAX_BIAS
    if np.any(np.abs(steps) > limit):
        return Refusal(
            Reason.UNSUPPORTED_QUANTIZATION,
            f"its bias exceeds {limit.bit_length()} bits in steps of input scale * weight scale, as the weights of a "
            f"channel are tiny next to its bias; scale them up, remove that channel, or {context.requantize}",
        )
    if weight.data is None or weight.scales is None or not _is_long(operands, context, weight.data, steps):
        return None
    factors = context.input_scale(operands.source) * weight.scales / context.output_scale(node)
    _, shifts = quantize_multipliers(factors)
    sums = _largest_sums(operands, context, weight.data) + np.abs(steps)
    # Before it is limited, a result of the kernel has 31 bits.
    if np.all(shifts <= _MAX_LONG_SHIFT) and np.all(sums * factors < 2**30):
        return None
    return Refusal(
        Reason.UNSUPPORTED_QUANTIZATION,
        "its sums may exceed 32 bits, and with them its results as well, which then are far beyond the range that "
        "calibration has seen; calibrate with representative data",
    )


def _is_long(operands: Operands, context: EdgeContext, weights: np.ndarray, steps: np.ndarray) -> bool:
    """Returns whether a sum with a bias of `steps` may exceed 32 bits."""
    return bool(np.any(_largest_sums(operands, context, weights) + np.abs(steps) >= 2**31))


def _largest_sums(operands: Operands, context: EdgeContext, weights: np.ndarray) -> np.ndarray:
    """int64 [out]: the largest magnitude that a sum of products with activations can have; 0 if it fits 32 bits
    whatever the weights are, without a bias."""
    quant, element = context.input_quant(operands.source), context.operand_element(operands.source) or COMMON_ELEMENT
    most = element.high - element.low  # of an activation less its zero point
    if element.is_symmetric:
        most = -element.low
    elif weights[0].size < 2**31 // (-COMMON_ELEMENT.low * most):
        return np.zeros(1, np.int64)
    zero_point = 0 if quant is None else quant.zero_point
    magnitude: np.ndarray = np.abs(weights.reshape(len(weights), -1).astype(np.int64)).sum(axis=1)
    largest: np.ndarray = magnitude * max(element.high - zero_point, zero_point - element.low)
    return largest


def _refuse_scales(
    node: EdgeNode,
    operands: Operands,
    context: EdgeContext,
    scales: np.ndarray,
    zero_points: Optional[np.ndarray],
) -> Optional[Refusal]:
    """Refuses scales and zero points of the weight that do not give valid multipliers. For weights with one scale they
    are numbers in the program; for weights with one scale per channel they are data."""
    if zero_points is not None and np.any(zero_points != 0):
        return Refusal(
            Reason.UNSUPPORTED_QUANTIZATION,
            "its weight has zero points other than 0; the kernels take symmetric weights: use a "
            "symmetric qscheme, as CmsisNnQuantizer does",
        )
    if not (np.all(np.isfinite(scales)) and np.all(scales > 0)):
        return Refusal(
            Reason.UNSUPPORTED_QUANTIZATION,
            "a scale of its weight is not a positive number; calibrate and convert the model again",
        )
    input_scale, output_scale = context.input_scale(operands.source), context.output_scale(node)
    try:
        quantize_multipliers(input_scale * scales / output_scale)
    except ValueError:
        return Refusal(
            Reason.UNSUPPORTED_QUANTIZATION,
            f"input scale {input_scale:g} * weight scale / output scale {output_scale:g} does not"
            " fit the kernels' multipliers; calibrate with representative data",
        )
    return None


def build(operands: Operands, context: EdgeContext) -> tuple[Value, Value]:
    """Returns (weight, bias) of a node that `check` and `check_data` accepted; a missing bias is zeros. The bias is
    int32, or int64 if a sum of int16 may exceed 32 bits, which is for the operator `WIDE`. The
    weight is int8, or int4 if it was quantized to 4 bits: `passes.widen_weights` makes int8 of those that have no
    kernel."""
    found = weight_of(operands, context)
    if found is None or found.data is None or found.scales is None:
        raise ValueError(f"{operands.weight.name} is not a quantized constant with data")
    data, channels = found.data, found.shape[0]
    scales = np.broadcast_to(found.scales, (channels,))
    input_scale = context.input_scale(operands.source)
    steps = np.zeros(channels, np.int64)
    if operands.bias is not None:
        steps = _bias_steps(operands.bias, context, input_scale, scales)
    quant = Quant(tuple(float(scale) for scale in scales), 0, 0)
    bias_quant = Quant(tuple(float(input_scale * scale) for scale in scales), 0, 0)
    name = operands.weight.name
    wide = _takes_long(operands, context) and _is_long(operands, context, data, steps)
    element = Element.INT64 if wide else Element.INT32
    return (
        Value(name, TensorType(found.element, data.shape, quant=quant), np.ascontiguousarray(data)),
        Value(f"{name}_bias", TensorType(element, (channels,), quant=bias_quant), steps.astype(element.numpy)),
    )


def weight_of(operands: Operands, context: EdgeContext) -> Optional[Constant]:
    """The weight with its output channels in dimension 0."""
    found = context.constant_float(operands.weight)
    if found is None:
        return None
    if operands.transposed_groups:
        return _of_transposed_convolution(found, operands.transposed_groups)
    return found.transposed((1, 0)) if operands.transposed else found


def _of_transposed_convolution(weight: Constant, groups: int) -> Constant:
    """[in, out / groups, h, w] as [out, in / groups, h, w].

    Scales along dimension 1 are those of the output channels of each group. Along dimension 0 there may only be scales
    if every group has one input channel: then they are those of the groups.
    """
    inputs, per_group, *taps = weight.shape
    data, scales, zero_points, axis = weight.data, weight.scales, weight.zero_points, weight.axis
    if data is not None:
        data = data.reshape(groups, inputs // groups, per_group, *taps).swapaxes(1, 2)
        data = data.reshape(groups * per_group, inputs // groups, *taps)

    def of_outputs(values: Optional[np.ndarray]) -> Optional[np.ndarray]:
        if values is None or len(values) == 1:
            return values
        return np.tile(values, groups) if axis == 1 else np.repeat(values, per_group)

    if axis == 1 or (axis == 0 and inputs == groups):
        scales, zero_points, axis = of_outputs(scales), of_outputs(zero_points), 0
    elif axis == 0:
        axis = 1  # of input channels, which no kernel takes
    shape = (groups * per_group, inputs // groups, *taps)
    return replace(weight, shape=shape, data=data, scales=scales, zero_points=zero_points, axis=axis)


def _bias_steps(bias: EdgeNode, context: EdgeContext, input_scale: float, scales: np.ndarray) -> np.ndarray:
    """int64 [out]: the bias in steps of input scale * weight scale."""
    found = context.constant_float(bias)
    if found is None or found.data is None:
        raise ValueError(f"{bias.name} is not a constant with data")
    step = input_scale * scales
    steps: np.ndarray
    if found.scales is None or found.zero_points is None:
        steps = np.rint(found.data.astype(np.float64) / step).astype(np.int64)
        return steps
    integers: np.ndarray = found.data.astype(np.int64) - found.zero_points
    # The usual case: quantized with that very scale, but for the rounding of float32.
    if np.allclose(found.scales, step, rtol=1e-5, atol=0):
        return integers
    steps = np.rint(integers * found.scales / step).astype(np.int64)
    return steps
