"""Code shared by average and maximum pooling."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Optional

import numpy as np

from ..edge.nodes import GETITEM, operand, pair, shape_of, target_name
from ..edge.program_types import EdgeContext, EdgeNode
from ..edge.refusal import Reason, Refusal
from ..format import blocks
from ..format.cpp import camel
from ..format.element import COMMON_ELEMENT, KERNEL_ELEMENTS
from ..format.record import I8, I32, Field, Scalar, Struct
from ..format.schema import MAX_STEP
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element
from . import block_values, storage
from .attrs import PoolAttrs
from .case import Case
from .channels import Bounds
from .cmsis_nn_rules import average_int16_fits
from .features import Features, blocks_of, blocks_of_channels
from .geometry import Geometry, Pair
from .kernel import KernelSpec, named_for
from .op import Op

POOL_PARAMS = Struct(
    "PoolParams",
    "= cmsis_nn_pool_params",
    (
        Field("stride", blocks.TILE, ">= 1"),
        Field("padding", blocks.TILE, "top and left, in [0, kernel)"),
        Field("activation", blocks.ACTIVATION),
    ),
)


POOL_INT16_PARAMS = Struct(
    "PoolInt16Params",
    "PoolParams of int16.",
    (*POOL_PARAMS.fields[:2], Field("activation", blocks.ACTIVATION_INT16)),
)


def sizes(params: Struct = POOL_PARAMS) -> tuple[Field, ...]:
    """Returns the numbers of the argument block of a pool."""
    return (
        Field("params", params),
        Field("input_dims", blocks.DIMS),
        Field("filter_dims", blocks.DIMS, "h, w of the window; n = c = 1"),
        Field("output_dims", blocks.DIMS),
    )


def kernel(operator: str, what: str, element: Scalar, *, scratch: bool = False) -> KernelSpec:
    """Returns the kernel of `operator` for `element`, with scratch memory or without; `what` says what it computes."""
    name, kind = named_for(operator, element), element.element
    return KernelSpec(
        name,
        Struct(
            f"{camel(name)}Args",
            f"int8 {what}, NHWC; padding does not count; input and output share scale and zero point."
            if element is I8
            else f"The same of {kind}.",
            (
                blocks.input("input", element, "input_dims", doc=f"{kind} [n, h, w, c]"),
                *((blocks.scratch(),) if scratch else ()),
                blocks.output(element, "output_dims", doc=f"{kind} [n, h, w, c]"),
                *((Field("scratch_bytes", I32),) if scratch else ()),
                *sizes(POOL_PARAMS if element is I8 else POOL_INT16_PARAMS),
            ),
            geometry="pooling",
        ),
        priced_as="" if element is I8 else operator,
    )


# Of any output size: where it divides the input's, all windows are alike.
ADAPTIVE_AVERAGES = ("aten.adaptive_avg_pool2d.default", "aten._adaptive_avg_pool2d.default")


# A maximum that also returns where it was found: the node has two results.
WITH_INDICES = "aten.max_pool2d_with_indices.default"


def result_of(node: EdgeNode) -> EdgeNode:
    """Returns the node whose place a pool takes: of one with indices, the reader of the maximum itself."""
    if target_name(node) != WITH_INDICES:
        return node
    reader: EdgeNode = next(iter(node.users))
    return reader


def refuse_indices(node: EdgeNode) -> Optional[Refusal]:
    """Refuses a pool whose indices are read."""
    if target_name(node) != WITH_INDICES:
        return None
    if [user.args[1] for user in node.users if target_name(user) == GETITEM] == [0]:
        return None
    return Refusal(
        Reason.UNSUPPORTED_PARAMETER,
        "its indices are read; only the maximum itself is supported (return_indices=False): to unpool, use "
        "upsampling or a transposed convolution, which need no indices",
    )


def divides(node: EdgeNode) -> bool:
    """Returns whether the output size of an adaptive pool divides the input's."""
    return not any(i % o for i, o in zip(shape_of(operand(node))[-2:], shape_of(node)[-2:]))


def widest(node: EdgeNode) -> Pair:
    """Returns the size of the largest window of an adaptive pool."""
    rows, columns = (
        max(-(-(index + 1) * size // count) - index * size // count for index in range(count))
        for size, count in zip(shape_of(operand(node))[-2:], shape_of(node)[-2:])
    )
    return rows, columns


def refuse_sums(node: EdgeNode, context: EdgeContext, kernel: Pair) -> Optional[Refusal]:
    """Refuses means of so many numbers of 16 bits that their sum has more than 32."""
    if context.operand_element(operand(node)) is not Element.INT16 or average_int16_fits(*kernel):
        return None
    return Refusal(
        Reason.TOO_LARGE,
        f"the sum of {list(kernel)} numbers of 16 bits may exceed 32 bits: compute the mean of means, of height "
        "and then of width",
    )


def mean(total: np.ndarray, count: np.ndarray, lo: int, hi: int, element: Element = COMMON_ELEMENT) -> np.ndarray:
    """Returns means of `count` steps each, halves away from zero, as `element`."""
    limited: np.ndarray = np.clip(np.sign(total) * ((np.abs(total) + count // 2) // count), lo, hi)
    return limited.astype(element.numpy)


def extent(attrs: PoolAttrs) -> Pair:
    """Returns the height and width of a window, with the gaps of its dilation."""
    rows, columns = ((k - 1) * d + 1 for k, d in zip(attrs.kernel, attrs.dilation))
    return rows, columns


def averages(element: Element, widest: int, counts: tuple[int, int, int], channels: int) -> Mapping[str, int]:
    """Returns how often kernels do something with a block of channels for the means of windows of at most `widest`
    pixels. `counts`: of windows, of their rows and of their pixels. Sums of more than 256 bytes have more than 16
    bits."""
    means, rows, taps = counts
    large = element is Element.INT8 and widest > 256
    return {
        **blocks_of_channels("means", means, channels),
        **blocks_of_channels("rows", rows, channels),
        **blocks_of_channels("taps of large windows" if large else "taps", taps, channels),
    }


class Pool(Op):
    """The base of both pools."""

    attrs = PoolAttrs
    elements = KERNEL_ELEMENTS
    takes_images = True
    each_channel = True

    def output_shape(self, inputs: Sequence[Value], attrs: PoolAttrs) -> tuple[int, ...]:
        """[n, c, h, w] with as many windows as fit the padded image."""
        n, c, *size = inputs[0].shape
        padding = attrs.padding
        padded = size[0] + padding.top + padding.bottom, size[1] + padding.left + padding.right
        return (n, c, *((i - e) // s + 1 for i, e, s in zip(padded, extent(attrs), attrs.stride)))

    def features(self, node: Node) -> Features:
        n, h, w, c = storage.nhwc(node.inputs[0])
        _, out_h, out_w, _ = storage.nhwc(node.output)
        attrs: PoolAttrs = node.attrs
        padding = attrs.padding.top, attrs.padding.left
        geometry = Geometry(n, (h, w), attrs.kernel, (out_h, out_w), attrs.stride, padding, attrs.dilation)
        rows, columns = geometry.taps_inside()
        taps, pixels = n * rows * columns, n * out_h * out_w
        return Features(
            {
                "pixels": pixels,
                "taps": taps,
                "values": taps * c,
                "values of 4": taps * (c // 4),
                "values of 16": taps * blocks_of(c, 16),
                "outputs": pixels * c,
                "outputs of 16": pixels * blocks_of(c, 16),
                **averages(node.output.element, math.prod(attrs.kernel), (pixels, n * rows * out_w, taps), c),
            }
        )

    def bounds(self, node: Node, inputs: Sequence[Bounds]) -> Bounds:
        if node.attrs.dilation != (1, 1):
            return super().bounds(node, inputs)  # a window may see no pixel
        return inputs[0].together((2, 3)).limited(*node.attrs.clamp.quantized(node.output.type))

    def window(self, node: Node) -> Pair:
        kernel: Pair = node.attrs.kernel
        return kernel


def draw_image(d: Case, element: Element = COMMON_ELEMENT) -> tuple[Value, PoolAttrs]:
    """An image and windows each of which sees some of it."""
    kernel = d.pair(1, 5)
    x = d.image(d.batch(), d.channels(), kernel, element=element)
    # With a stride of at most the kernel, less what is padded, no window lies beyond the image.
    padding = d.padding(kernel)
    far = padding.bottom, padding.right
    stride = pair([d.integer(1, max(1, k - f)) for k, f in zip(kernel, far)])
    return x, PoolAttrs(kernel, stride, padding, d.clamp())


def arguments(node: Node) -> Mapping[str, Any]:
    """The fields of the argument block that both pools have, without references."""
    attrs = node.attrs
    if attrs.dilation == (1, 1) and (attrs.padding.top >= attrs.kernel[0] or attrs.padding.left >= attrs.kernel[1]):
        raise ValueError(f"{node.name}: padding {attrs.padding} leaves windows {attrs.kernel} empty")
    height, width = attrs.kernel
    return {
        "params": {
            "stride": block_values.tile(*attrs.stride),
            "padding": block_values.tile(attrs.padding.top, attrs.padding.left),
            "activation": block_values.activation(attrs.clamp, node.output.type),
        },
        "input_dims": block_values.dims(*storage.nhwc(node.inputs[0])),
        "filter_dims": block_values.dims(1, height, width, 1),
        "output_dims": block_values.dims(*storage.nhwc(node.output)),
    }


def refuse_stride(node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
    """Refuses a window or stride that a payload cannot hold; `node` is aten.avg_pool2d or max_pool2d."""
    _, kernel, stride = context.arguments(node)[:3]
    if max(*pair(kernel), *pair(stride or kernel)) <= MAX_STEP:
        return None
    return Refusal(
        Reason.TOO_LARGE,
        f"window {list(pair(kernel))} or stride {list(pair(stride or kernel))} is too large; a payload holds at most "
        f"{MAX_STEP}: use a smaller stride",
    )
