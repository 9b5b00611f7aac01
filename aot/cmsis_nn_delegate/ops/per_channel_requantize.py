"""Requantization with one scale per output channel, as convolutions and linear layers do it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..graph.ir import Node, Value
from ..graph.tensor_type import Element
from .quantized_math import quantize_multipliers, requantize, requantize_long, to_output, wrap32


def output_multipliers(node: Node) -> tuple[np.ndarray, np.ndarray]:
    """int32 (mantissa, shift) per output channel: input scale * weight scale / output scale."""
    x, weight = node.inputs[:2]
    if weight.quant is None:
        raise ValueError(f"{node.name}: its weight {weight.name} is not quantized")
    scales = np.broadcast_to(np.array(weight.quant.scale), (weight.shape[0],))
    try:
        return quantize_multipliers(x.scale * scales / node.output.scale)
    except ValueError as error:
        raise ValueError(f"{node.name}: {error}") from error


def effective_bias(weight: Value, bias: Value, zero_point: int) -> np.ndarray:
    """int32 [out]: the bias with what the input's zero point adds to the sums of the rows of `weight`."""
    row_sums = weight.constant.astype(np.int64).sum(axis=1)
    return wrap32(bias.constant - zero_point * row_sums).astype(np.int32)


def finish(node: Node, acc: np.ndarray, bias: np.ndarray) -> np.ndarray:
    """Turns sums of products, channels last, into the output. `acc` may be any exact dtype."""
    total = acc.astype(np.int64) + bias
    lo, hi = node.attrs.clamp.quantized(node.output.type)
    output = node.output
    multiplier, shift = output_multipliers(node)
    is_long = node.inputs[2].element is Element.INT64
    result = requantize_long(total, multiplier, shift) if is_long else requantize(wrap32(total), multiplier, shift)
    return to_output(result, output.zero_point, lo, hi, output.element)


def constants(node: Node, weights: np.ndarray, bias: np.ndarray) -> Mapping[str, np.ndarray]:
    """The constants of the call, by the names that all three kernels use."""
    multiplier, shift = output_multipliers(node)
    return {
        "filter": weights,
        "bias": bias.astype(node.inputs[2].element.numpy),
        "multiplier": multiplier,
        "shift": shift,
    }
