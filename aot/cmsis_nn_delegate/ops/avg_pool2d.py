"""Average pooling; padding does not count."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional

import numpy as np

from ..edge.nodes import argument, first, operand, pair, shape_of, target_name
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format.record import I8, I16
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element
from . import pooling, storage
from .annotation import SameScale
from .attrs import Padding, PoolAttrs
from .case import Case
from .cmsis_nn_rules import average_int16_fits
from .geometry import Pair
from .pooling import Pool
from .reduction import is_pooling, window
from .windows import taps

KERNEL = pooling.kernel("avg_pool2d", "average pooling", I8, scratch=True)
INT16 = pooling.kernel("avg_pool2d", "average pooling", I16, scratch=True)


def _draw(d: Case) -> Value:
    x, attrs = pooling.draw_image(d)
    return d.node("avg_pool2d", [x], attrs, x.quant)


def _draw_int16(d: Case) -> Value:
    if d.pick(False, True):
        kernel = d.pair(1, 9)
        return d.avg_pool2d(d.input(d.batch(), d.channels(), *kernel, element=Element.INT16), kernel, clamp=d.clamp())
    x, attrs = pooling.draw_image(d, Element.INT16)
    return d.node("avg_pool2d", [x], attrs, x.quant)


def _draw_global(d: Case) -> Value:
    kernel = d.pair(1, 9)
    return d.avg_pool2d(d.input(d.batch(), d.channels(), *kernel), kernel, clamp=d.clamp())


def _is_average(node: EdgeNode) -> bool:
    return target_name(node) != "aten.mean.dim" or is_pooling(node)


class AvgPool2d(Pool):
    """Mean of the pixels of each window that lie in the image, halves away from zero.

    Input and output have one scale and zero point. CMSIS-NN: arm_avgpool_s8.
    """

    name = "avg_pool2d"
    targets = (
        "aten.avg_pool2d.default",
        *pooling.ADAPTIVE_AVERAGES,
        "aten.mean.dim",
    )
    whole = ("aten.adaptive_avg_pool2d.default",)
    annotation = SameScale(
        ("aten.avg_pool2d.default", "aten.adaptive_avg_pool2d.default", "aten.mean.dim"), when=_is_average
    )
    kernels = (KERNEL, INT16)
    draws = (_draw, _draw_global, _draw_int16)
    limits = (
        "average pooling: with divisor_override or padding that counts, as a depthwise convolution with equal weights",
        "avg_pool3d and adaptive_avg_pool3d: as a convolution with equal weights, or if windows differ in size, of "
        "height and width and then of the depth; with ceil_mode without divisor_override",
        "mean: over height, width or both; other means are sums (reduce_sum)",
    )

    def takes(self, node: EdgeNode, element: Element) -> bool:
        return element is not Element.INT16 or average_int16_fits(*self._widest(node))

    @staticmethod
    def _widest(node: EdgeNode) -> Pair:
        """The largest window of a node of `annotation`."""
        name = target_name(node)
        if name == "aten.mean.dim":
            return window(node)
        return pair(argument(node, 1)) if name == "aten.avg_pool2d.default" else pooling.widest(node)

    def claims(self, node: EdgeNode, context: EdgeContext) -> bool:
        if target_name(node) in pooling.ADAPTIVE_AVERAGES:
            return pooling.divides(node)
        return _is_average(node)

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        source = operand(node)
        return first(
            lambda: context.refuse_tensors(node, source),
            lambda: context.refuse_image(source, "its input"),
            lambda: self._refuse_window(node, context),
            lambda: context.refuse_quant(node, [source], same=True),
            lambda: pooling.refuse_sums(node, context, self._window(node, context).kernel),
        )

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        source = operand(node)
        attrs = self._window(node, context)
        n, c, h, w = shape_of(source)
        if target_name(node) != "aten.mean.dim" or len(shape_of(node)) == 4:
            return [context.node(node, self.name, [context.value(source)], attrs)]
        # mean without keepdim: the pool keeps its dimensions, a reshape drops them.
        pooled = (n, c, h // attrs.kernel[0], w // attrs.kernel[1])
        pool = context.node(node, self.name, [context.value(source)], attrs, pooled, "_pool")
        return [pool, context.node(node, "reshape", [pool.output])]

    def _window(self, node: EdgeNode, context: EdgeContext) -> PoolAttrs:
        """The window of an accepted node."""
        name = target_name(node)
        _, _, *size = shape_of(operand(node))
        if name == "aten.mean.dim":
            return PoolAttrs(window(node), window(node))
        if name != "aten.avg_pool2d.default":
            kernel = pair([i // o for i, o in zip(size, shape_of(node)[2:])])
            return PoolAttrs(kernel, kernel)
        _, kernel, stride, padding, *_ = context.arguments(node)
        top, left = pair(padding)
        return PoolAttrs(pair(kernel), pair(stride or kernel), Padding(top, left, top, left))

    def _refuse_window(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        name = target_name(node)
        if name != "aten.avg_pool2d.default":
            return None
        refusal = pooling.refuse_stride(node, context)
        if refusal is not None:
            return refusal
        padding, _, count_include_pad, divisor = context.arguments(node)[3:7]
        if divisor is not None:
            return Refusal(
                Reason.UNSUPPORTED_PARAMETER,
                "divisor_override is not supported; scale the weights of the next layer instead",
            )
        if count_include_pad and any(pair(padding)):
            return Refusal(
                Reason.UNSUPPORTED_PARAMETER,
                "count_include_pad with padding is not supported, as the kernel averages over real "
                "pixels; pass count_include_pad=False or padding=0",
            )
        return None

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        attrs = node.attrs
        _, out_h, out_w, _ = storage.nhwc(node.output)
        image = inputs[0].reshape(storage.nhwc(node.inputs[0])).astype(np.int64)
        inside = np.ones((1, *image.shape[1:3], 1), np.int64)
        windows = (attrs.kernel, attrs.stride, (1, 1), attrs.padding, (out_h, out_w), 0)
        total = sum(taps(image, *windows))
        count = sum(taps(inside, *windows))
        lo, hi = attrs.clamp.quantized(node.output.type)
        means = pooling.mean(np.asarray(total), np.asarray(count), lo, hi, node.output.element)
        return means.reshape(node.output.storage_shape)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return {**refs, "scratch_bytes": scratch_bytes, **pooling.arguments(node)}
