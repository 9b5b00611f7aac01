"""Pads before an operator, which the pass `fold_pads` adds to the operator's own padding."""

from __future__ import annotations

from typing import Any

from ..edge.nodes import DEQUANTIZE, QUANTIZE, RESHAPES, shape_of, target_name
from ..graph.tensor_type import TensorType
from .attrs import Padding

PADS = ("aten.constant_pad_nd.default", "aten.pad.default")


def of_pad(node: Any) -> Padding:
    """What a pad adds. PyTorch lists (left, right), then (top, bottom), then outer dimensions."""
    left, right, top, bottom = (*node.args[1], 0, 0, 0, 0)[:4]
    return Padding(top, left, bottom, right)


def in_front(source: Any) -> tuple[Any, Padding]:
    """(what is padded, the sum of all pads) of an image; (that or a copy of it, none) without."""
    total = Padding()
    while True:
        name = target_name(source)
        if name in PADS:
            total = total.plus(of_pad(source))
        elif name in RESHAPES:
            if shape_of(source) != shape_of(source.args[0]):
                return source, total
        elif name not in (QUANTIZE, DEQUANTIZE):
            return source, total
        source = source.args[0]


def is_zero(value: float) -> bool:
    """Whether padding with `value` is what a convolution's own padding does."""
    return value == 0


def is_lowest(value: float, image: TensorType) -> bool:
    """Whether `value` quantizes to the least element, which no maximum over a window ever prefers."""
    quant = image.per_tensor
    return value / quant.scale[0] + quant.zero_point <= image.element.low
