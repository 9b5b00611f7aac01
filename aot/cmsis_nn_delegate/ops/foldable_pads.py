"""Pads before an operator, which the pass `fold_pads` adds to the operator's own padding."""

from __future__ import annotations

from typing import Any

from ..edge.nodes import DEQUANTIZE, QUANTIZE, RESHAPES, argument, operand, shape_of, target_name
from ..edge.program_types import EdgeNode
from ..graph.tensor_type import TensorType
from .attrs import Padding

PADS = ("aten.constant_pad_nd.default", "aten.pad.default")


def surrounds(node: EdgeNode) -> bool:
    """Returns whether a pad of `PADS` adds rows and columns of a constant to images, and nothing else."""
    mode = node.kwargs.get("mode", argument(node, 2) if len(node.args) > 2 else "constant")
    constant = target_name(node) == "aten.constant_pad_nd.default" or mode == "constant"
    amounts = argument(node, 1)
    return constant and len(shape_of(node)) == 4 and not any(amounts[4:]) and min(amounts, default=0) >= 0


def of_pad(node: EdgeNode) -> Padding:
    """Returns what a pad adds. PyTorch lists (left, right), then (top, bottom), then outer dimensions."""
    left, right, top, bottom = (*argument(node, 1), 0, 0, 0, 0)[:4]
    return Padding(top, left, bottom, right)


def in_front(source: EdgeNode) -> tuple[Any, Padding]:
    """Returns the tensor before all pads of an operator's input, and the sum of these pads, 0 if there are none."""
    total = Padding()
    while True:
        name = target_name(source)
        if name in PADS and surrounds(source):
            total = total.plus(of_pad(source))
        elif name in RESHAPES:
            if shape_of(source) != shape_of(operand(source)):
                return source, total
        elif name not in (QUANTIZE, DEQUANTIZE):
            return source, total
        source = operand(source)


def is_zero(value: float) -> bool:
    """Whether padding with `value` is what a convolution's own padding does."""
    return value == 0


def is_lowest(value: float, image: TensorType) -> bool:
    """Whether `value` quantizes to the least element, which no maximum over a window ever prefers."""
    quant = image.per_tensor
    return value / quant.scale[0] + quant.zero_point <= image.element.low
