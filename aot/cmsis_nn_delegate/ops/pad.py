"""Padding with a constant, by reflection, with the edge, or as on a ring."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Optional

from ..edge.naming import computed_in_float
from ..edge.nodes import (
    QUANTIZE,
    RESHAPES,
    argument,
    first,
    operand,
    pair,
    quantized_element,
    shape_of,
    target_name,
    tensor,
)
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format.element import COMMON_ELEMENT, MOVED_ELEMENTS
from ..graph.ir import Node
from ..graph.tensor_type import Element, TensorType
from . import aten_convolution, foldable_pads
from .annotation import SameScale
from .attrs import PadAttrs
from .op import Op
from .pad_nd import PadMode, PadNdAttrs

_CONVOLUTIONS = (*aten_convolution.TARGETS, "aten.conv2d.default")
_MAX_POOLS = ("aten.max_pool2d.default", "aten.max_pool2d_with_indices.default")
# Those that have a mode in their name.
_MODES = {
    **{f"aten.reflection_pad{rank}d.default": PadMode.REFLECT for rank in (1, 2, 3)},
    **{f"aten.replication_pad{rank}d.default": PadMode.REPLICATE for rank in (1, 2, 3)},
}
_TARGETS = (*foldable_pads.PADS, *_MODES)


class Pad(Op):
    """Elements around the input, in any dimensions.

    Rows and columns of a constant around an image cost nothing if every reader can take them over (`fold_pads`). A
    convolution can if the constant is 0, by a separate amount on each side; maximum pooling can if the constant is the
    lowest quantized value, as after a ReLU. Average pooling would have to count the padded pixels, which CMSIS-NN does
    not do. Every other pad is a copy, `pad_nd`.
    """

    name = "pad"
    targets = _TARGETS
    whole = (
        "aten.pad.default",
        "aten.reflection_pad1d.default",
        "aten.reflection_pad2d.default",
        "aten.reflection_pad3d.default",
        "aten.replication_pad1d.default",
        "aten.replication_pad2d.default",
        "aten.replication_pad3d.default",
    )
    annotation = SameScale(_TARGETS)
    attrs = PadAttrs
    limits = (
        "free of cost around height and width if every reader can take it over: 0 before a convolution, the lowest "
        "value (as after a ReLU) before maximum pooling; else a copy",
    )
    elements = MOVED_ELEMENTS
    computes = False
    keeps_quant = True

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        source = operand(node)
        return first(
            lambda: context.refuse_tensors(node, source),
            lambda: self._refuse_value(node, context),
            lambda: (
                None
                if self._folds(node, context) and self._feeds_directly(node)
                else context.refuse_quant(node, [source], same=True)
            ),
        )

    def companions(self, node: EdgeNode, context: EdgeContext) -> Iterator[EdgeNode]:
        element = context.operand_element(operand(node))
        return self._readers(node, element) if element is not None and self._folds(node, context) else iter(())

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        inputs = [context.value(operand(node))]
        value = float(self._value(node, context))
        if self._folds(node, context):
            return [context.node(node, self.name, inputs, PadAttrs(foldable_pads.of_pad(node), value))]
        # PyTorch lists them in pairs, from the last dimension to the first.
        amounts = list(argument(node, 1))
        amounts += [0] * (2 * len(shape_of(node)) - len(amounts))
        mode = int(self._mode(node, context))
        attrs = PadNdAttrs(tuple(amounts[-2::-2]), tuple(amounts[::-2]), mode, value)
        return [context.node(node, "pad_nd", inputs, attrs)]

    def _mode(self, node: EdgeNode, context: EdgeContext) -> PadMode:
        if target_name(node) == "aten.pad.default":
            return PadMode[context.arguments(node)[2].upper()]
        return _MODES.get(target_name(node), PadMode.CONSTANT)

    def _value(self, node: EdgeNode, context: EdgeContext) -> Any:
        if target_name(node) in _MODES:
            return 0.0
        value = context.arguments(node)[-1]
        return 0.0 if value is None else value

    def _refuse_value(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        value = self._value(node, context)
        if not isinstance(value, (int, float)) or not math.isfinite(value):
            return Refusal(Reason.UNSUPPORTED_PARAMETER, f"its value {value} is not a finite number")
        return None

    def _feeds_directly(self, node: EdgeNode) -> bool:
        """Whether it has readers, and none of them is a quantize: then there are no parameters to compare."""
        return bool(node.users) and not any(target_name(user) == QUANTIZE for user in node.users)

    def _folds(self, node: EdgeNode, context: EdgeContext) -> bool:
        """Returns whether every reader can take the padding over."""
        quant = context.input_quant(operand(node))
        if quant is None or target_name(node) not in foldable_pads.PADS or not foldable_pads.surrounds(node):
            return False
        if computed_in_float(node):
            return False
        value = self._value(node, context)
        element = context.operand_element(operand(node)) or COMMON_ELEMENT
        image = TensorType(element, shape_of(operand(node)), quant=quant)
        readers = list(self._readers(node, element))

        def takes_over(reader: EdgeNode) -> bool:
            name = target_name(reader)
            if computed_in_float(reader):
                return False
            if name in _CONVOLUTIONS:
                return foldable_pads.is_zero(value)
            if name in _MAX_POOLS:
                return foldable_pads.is_lowest(value, image) and self._windows_stay_inside(reader, context)
            return name in foldable_pads.PADS and self._value(reader, context) == value and self._folds(reader, context)

        return bool(readers) and all(map(takes_over, readers))

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

    def _readers(self, node: EdgeNode, element: Element) -> Iterator[EdgeNode]:
        """Yields the readers of the padded image, directly or through quantize and dequantize of `element` and copies
        of one shape."""
        for user in node.users:
            name = target_name(user)
            if name.startswith("quantized_decomposed.") and quantized_element(user) is element:
                yield from self._readers(user, element)
            elif name in RESHAPES and shape_of(user) == shape_of(node):
                yield from self._readers(user, element)
            else:
                yield user
