"""Constant padding of images, before it is folded into the operators that read it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Optional

from ..edge.nodes import QUANTIZE, RESHAPES, argument, first, operand, pair, shape_of, target_name, tensor
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..graph.ir import Node
from ..graph.tensor_type import Element, TensorType
from . import aten_convolution, foldable_pads
from .annotation import SameScale
from .attrs import PadAttrs
from .op import Op

_CONVOLUTIONS = (*aten_convolution.TARGETS, "aten.conv2d.default")
_MAX_POOLS = ("aten.max_pool2d.default", "aten.max_pool2d_with_indices.default")


class Pad(Op):
    """Rows and columns of a constant around an image.

    There is no kernel for it, so every reader must be able to take it over. A convolution
    can if the constant is 0, by a separate amount on each side; maximum pooling can if the
    constant is the lowest quantized value, as after a ReLU. Average pooling would
    have to count the padded pixels, which CMSIS-NN does not do.
    """

    name = "pad"
    targets = foldable_pads.PADS
    annotation = SameScale(foldable_pads.PADS)
    attrs = PadAttrs
    limits = (
        "a constant around height and width that every reader can take over: 0 before a convolution, the lowest value "
        "(as after a ReLU) before maximum pooling",
    )
    computes = False
    keeps_quant = True

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        source = operand(node)
        return first(
            lambda: context.refuse_tensors(node, source),
            lambda: self._refuse_mode(node, context),
            lambda: context.refuse_image(source, "its input"),
            lambda: self._refuse_amounts(node),
            lambda: (
                context.refuse_quant(node, [source], same=True)
                if context.input_quant(source) is None or not self._feeds_directly(node)
                else None
            ),
            lambda: self._refuse_readers(node, context),
        )

    def companions(self, node: EdgeNode, context: EdgeContext) -> Iterator[EdgeNode]:
        return self._readers(node)

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        attrs = PadAttrs(foldable_pads.of_pad(node), float(self._value(node, context)))
        return [context.node(node, self.name, [context.value(operand(node))], attrs)]

    def _value(self, node: EdgeNode, context: EdgeContext) -> Any:
        value = context.arguments(node)[-1]
        return 0.0 if value is None else value

    def _refuse_mode(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        if target_name(node) == "aten.pad.default" and context.arguments(node)[2] != "constant":
            return Refusal(
                Reason.UNSUPPORTED_PARAMETER,
                f"padding mode {context.arguments(node)[2]!r}; only constant padding is supported",
            )
        value = self._value(node, context)
        if not isinstance(value, (int, float)) or not math.isfinite(value):
            return Refusal(Reason.UNSUPPORTED_PARAMETER, f"its value {value} is not a finite number")
        return None

    def _refuse_amounts(self, node: EdgeNode) -> Optional[Refusal]:
        amounts = list(argument(node, 1))
        if any(amounts[4:]):
            return Refusal(
                Reason.UNSUPPORTED_PARAMETER,
                f"padding {amounts} extends batch or channels; only height and width can be padded",
            )
        if any(amount < 0 for amount in amounts):
            return Refusal(
                Reason.UNSUPPORTED_PARAMETER,
                f"padding {amounts} crops the image; slicing is not supported",
            )
        return None

    def _feeds_directly(self, node: EdgeNode) -> bool:
        """Whether it has readers, and none of them is a quantize: then there are no parameters to compare."""
        return bool(node.users) and not any(target_name(user) == QUANTIZE for user in node.users)

    def _refuse_readers(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        value = self._value(node, context)
        image = TensorType(Element.INT8, shape_of(operand(node)), quant=context.input_quant(operand(node)))
        readers = list(self._readers(node))
        if not readers:
            return Refusal(Reason.NOT_FUSABLE, "nothing reads it that could take the padding over")
        for reader in readers:
            name = target_name(reader)
            if name in _CONVOLUTIONS and foldable_pads.is_zero(value):
                continue
            if name in _MAX_POOLS and foldable_pads.is_lowest(value, image):
                if self._windows_stay_inside(reader, context):
                    continue
            if name in foldable_pads.PADS and self._value(reader, context) == value:
                continue
            return Refusal(
                Reason.NOT_FUSABLE,
                f"padding with {value:g} cannot be folded into {reader.name} ({name or reader.op}):"
                " only a convolution takes zeros over, and max_pool2d what is below every value;"
                " use the padding argument of the layer that follows",
            )
        return None

    def _windows_stay_inside(self, pool: EdgeNode, context: EdgeContext) -> bool:
        """Whether the kernel can pool with all pads before `pool` as its own padding: it needs padding smaller than
        its window, and every window has to reach into the image."""
        source, pads = foldable_pads.in_front(operand(pool))
        _, kernel, stride, own, *_ = context.arguments(pool)
        kernel, stride, own = pair(kernel), pair(stride or kernel), pair(own)
        result = tensor(pool)
        pooled = (result[0] if isinstance(result, (tuple, list)) else result).shape[2:]
        sides = ((pads.top, pads.bottom), (pads.left, pads.right))
        return all(
            max(near, far) + o < k <= size + near + far and (out - 1) * s - near - o < size
            for (near, far), o, k, s, size, out in zip(sides, own, kernel, stride, shape_of(source)[2:], pooled)
        )

    def _readers(self, node: EdgeNode) -> Iterator[EdgeNode]:
        """Yields the readers of the padded image, directly or through quantize, dequantize and copies of one shape."""
        for user in node.users:
            name = target_name(user)
            if name.startswith("quantized_decomposed."):
                yield from self._readers(user)
            elif name in RESHAPES and shape_of(user) == shape_of(node):
                yield from self._readers(user)
            else:
                yield user
