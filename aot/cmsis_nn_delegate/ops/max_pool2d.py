"""Maximum pooling; padding does not count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import reduce
from typing import Any, Optional

import numpy as np

from ..edge.nodes import first, operand, pair, shape_of, target_name
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Refusal
from ..format import blocks
from ..format.record import I8, I16, Field, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, TensorType
from . import block_values, foldable_pads, pooling, storage
from .annotation import SameScale
from .attrs import Padding, PoolAttrs
from .case import Case
from .kernel import KernelSpec
from .pooling import Pool
from .reduction import dims_of, is_pooling, kept, window
from .windows import taps

KERNEL = pooling.kernel("max_pool2d", "maximum pooling", I8)
INT16 = pooling.kernel("max_pool2d", "maximum pooling", I16)
DILATED_KERNEL = KernelSpec(
    "max_pool2d_dilated",
    Struct(
        "MaxPool2dDilatedArgs",
        "int8 maximum pooling, NHWC, of windows with gaps; padding does not count, and a window that sees no pixel "
        "gives the lowest value; input and output share scale and zero point.",
        (
            *KERNEL.args.fields,
            Field("dilation", blocks.TILE, ">= 1"),
        ),
        geometry="dilated_pooling",
    ),
    variant="dilated",
)
DILATED_INT16 = KernelSpec(
    "max_pool2d_dilated_int16",
    Struct(
        "MaxPool2dDilatedInt16Args",
        "The same of int16.",
        (*INT16.args.fields, Field("dilation", blocks.TILE, ">= 1")),
        geometry="dilated_pooling",
    ),
    variant="dilated",
    priced_as="max_pool2d_dilated",
)


def _draw(d: Case) -> Value:
    x, attrs = pooling.draw_image(d)
    return d.node("max_pool2d", [x], attrs, x.quant)


_AMAX = "aten.amax.default"


def _draw_dilated(d: Case) -> Value:
    """Windows with gaps, of which some may see no pixel."""
    kernel, dilation = d.pair(1, 4), d.pick((1, 2), (2, 1), d.pair(2, 4))
    x = d.image(d.batch(), d.channels(), kernel, dilation)
    attrs = PoolAttrs(kernel, d.pair(1, 4), d.padding(kernel, dilation), d.clamp(), dilation)
    return d.node("max_pool2d", [x], attrs, x.quant)


def _draw_int16(d: Case) -> Value:
    if d.pick(False, False, True):
        kernel, dilation = d.pair(1, 4), d.pair(2, 4)
        x = d.image(d.batch(), d.channels(), kernel, dilation, element=Element.INT16)
        attrs = PoolAttrs(kernel, d.pair(1, 4), d.padding(kernel, dilation), d.clamp(), dilation)
    else:
        x, attrs = pooling.draw_image(d, Element.INT16)
    return d.node("max_pool2d", [x], attrs, x.quant)


class MaxPool2d(Pool):
    """Maximum of the pixels of each window that lie in the image.

    Input and output have one scale and zero point. CMSIS-NN: arm_max_pool_s8.
    """

    name = "max_pool2d"
    targets = ("aten.max_pool2d.default", pooling.WITH_INDICES, _AMAX)
    whole = ("aten.max_pool2d.default",)
    annotation = SameScale(("aten.max_pool2d.default",))
    kernels = (KERNEL, DILATED_KERNEL, INT16, DILATED_INT16)
    draws = (_draw, _draw_dilated, _draw_int16)
    limits = (
        "return_indices only if nothing reads the indices",
        "adaptive maximum pooling to any size, in several calls if windows differ in size",
        "max_pool3d and adaptive_max_pool3d: that of height and width, and then of the depth",
        "amax: over height, width or both of images; others are reduce_extremum",
    )

    def claims(self, node: EdgeNode, context: EdgeContext) -> bool:
        return target_name(node) != _AMAX or is_pooling(node)

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        source = operand(node)
        return first(
            lambda: pooling.refuse_indices(node),
            lambda: context.refuse_tensors(source, pooling.result_of(node)),
            lambda: context.refuse_image(source, "its input"),
            lambda: None if target_name(node) == _AMAX else pooling.refuse_stride(node, context),
            lambda: context.refuse_quant(node, [source], same=True),
        )

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        source = operand(node)
        if target_name(node) == _AMAX:
            return self._build_amax(node, context)
        _, kernel, stride, own, dilation, *_ = context.arguments(node)
        top, left = pair(own)
        padding = Padding(top, left, top, left)
        attrs = PoolAttrs(pair(kernel), pair(stride or kernel), padding, dilation=pair(dilation))
        return [context.node(pooling.result_of(node), self.name, [context.value(source)], attrs)]

    def _build_amax(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        source = operand(node)
        attrs = PoolAttrs(window(node), window(node))
        pooled = kept(shape_of(source), dims_of(node))
        if pooled == shape_of(node):
            return [context.node(node, self.name, [context.value(source)], attrs)]
        # Without keepdim: the pool keeps its dimensions, a reshape drops them.
        pool = context.node(node, self.name, [context.value(source)], attrs, pooled, "_pool")
        return [pool, context.node(node, "reshape", [pool.output])]

    def variant(self, node: Node) -> str:
        return "" if node.attrs.dilation == (1, 1) else "dilated"

    def absorbs_padding(self, value: float, image: TensorType) -> bool:
        return foldable_pads.is_lowest(value, image)

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        attrs = node.attrs
        _, out_h, out_w, _ = storage.nhwc(node.output)
        image = inputs[0].reshape(storage.nhwc(node.inputs[0]))
        lowest = node.output.element.low
        pixels = taps(image, attrs.kernel, attrs.stride, attrs.dilation, attrs.padding, (out_h, out_w), lowest)
        lo, hi = attrs.clamp.quantized(node.output.type)
        largest: np.ndarray = np.clip(reduce(np.maximum, pixels), lo, hi)
        return largest.reshape(node.output.storage_shape)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        dilation = {"dilation": block_values.tile(*node.attrs.dilation)} if self.variant(node) else {}
        return {**refs, **pooling.arguments(node), **dilation}
