"""int8 depthwise convolution, with weights of 8 or 4 bits: one input channel per group."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..edge.nodes import pair
from ..edge.program_types import EdgeContext, EdgeNode
from ..format import blocks
from ..format.record import I4, I8, I32, Field, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element
from . import aten_convolution, channels, constant_weights, conv_args, per_channel_requantize, storage
from . import cmsis_nn_rules as rules
from .annotation import NotAnnotated
from .attrs import Padding
from .case import Case
from .channels import Link
from .conv2d import Convolution
from .conv_args import CallDims
from .features import Features, blocks_of
from .geometry import Geometry
from .kernel import KernelSpec
from .windows import taps

PACKED_DW_CONV_PARAMS = Struct(
    "PackedDwConvParams",
    "PackedConvParams and the channel multiplier.",
    (
        *conv_args.PACKED_CONV_PARAMS.fields[:2],
        Field("ch_mult", I32, "output channels = ch_mult * input channels"),
        *conv_args.PACKED_CONV_PARAMS.fields[2:],
    ),
)


KERNEL = KernelSpec(
    "depthwise_conv2d",
    Struct(
        "DepthwiseConv2dArgs",
        "int8 depthwise convolution, NHWC; output channel o reads input channel o / ch_mult.",
        (
            blocks.input("input", I8, "input_dims", doc="int8 [n, h, w, c]"),
            blocks.filter("filter_dims", doc="int8 [1, h, w, c = out channels]"),
            blocks.bias("output_dims.c", doc="int32 [out channels]"),
            blocks.multipliers("output_dims.c", doc="int32 [out channels], Q31, >= 0"),
            blocks.shifts("output_dims.c", doc="int32 [out channels], left if positive, [-31, 30]"),
            blocks.scratch(),
            blocks.output(I8, "output_dims", doc="int8 [n, h, w, c]"),
            Field("scratch_bytes", I32),
            Field("params", PACKED_DW_CONV_PARAMS),
            Field("input_dims", blocks.PACKED_DIMS),
            Field("filter_dims", blocks.PACKED_DIMS),
            Field("output_dims", blocks.PACKED_DIMS),
        ),
        geometry="depthwise_convolution",
    ),
)
INT4 = KernelSpec(
    "depthwise_conv2d_int4",
    Struct(
        "DepthwiseConv2dInt4Args",
        "DepthwiseConv2dArgs with weights of 4 bits, two in a byte, the first in the lower half; the taps follow each "
        "other without gaps.",
        (
            KERNEL.args.fields[0],
            blocks.filter("filter_dims", doc="int4 [1, h, w, c = out channels]", element=I4),
            *(field for field in KERNEL.args.fields[2:] if not field.name.startswith("scratch")),
        ),
        geometry="depthwise_convolution",
    ),
    priced_as="depthwise_conv2d",
)


def _draw_channels(d: Case) -> int:
    return max(2, d.pick(d.channels(), d.channels(), d.integer(120, 130), d.integer(240, 260)))


def _draw_general(d: Case) -> Value:
    kernel = d.pair(1, 5)
    x = d.image(d.batch(), _draw_channels(d), kernel)
    return d.depthwise_conv2d(x, 1, kernel=kernel, stride=d.pair(1, 3), padding=d.padding(kernel), clamp=d.clamp())


def _draw_3x3(d: Case) -> Value:
    """3x3, which has its own kernel without MVE; with wide padding at the right it is rewritten."""
    x = d.image(1, _draw_channels(d), (3, 3))
    padding = Padding(d.integer(0, 1), d.integer(0, 1), d.integer(0, 2), d.integer(0, 2))
    return d.depthwise_conv2d(
        x, 1, kernel=(3, 3), stride=d.pick((1, 1), (2, 2), d.pair(1, 3)), padding=padding, clamp=d.clamp()
    )


def _draw_multiplied(d: Case) -> Value:
    kernel = d.pair(1, 4)
    x = d.image(d.batch(), d.integer(2, 9), kernel)
    return d.depthwise_conv2d(
        x, d.integer(2, 6), kernel=kernel, stride=d.pair(1, 2), padding=d.padding(kernel), clamp=d.clamp()
    )


def _draw_dilated(d: Case) -> Value:
    kernel, dilation = d.pair(2, 3), d.pair(1, 3)
    x = d.image(d.batch(), max(2, d.channels()), kernel, dilation)
    return d.depthwise_conv2d(
        x,
        d.pick(1, 1, 2),
        kernel=kernel,
        stride=d.pair(1, 2),
        padding=d.padding(kernel, dilation),
        dilation=dilation,
        clamp=d.clamp(),
    )


def _draw_int4(d: Case) -> Value:
    """Also an odd number of channels, of which every other tap begins within a byte."""
    kernel, dilation = d.pair(1, 5), d.pick((1, 1), (1, 1), d.pair(1, 3))
    x = d.image(d.batch(), _draw_channels(d), kernel, dilation)
    strides: dict[str, Any] = {"stride": d.pair(1, 3), "padding": d.padding(kernel, dilation), "dilation": dilation}
    return d.depthwise_conv2d(x, 1, kernel=kernel, **strides, clamp=d.clamp(), element=Element.INT4)


def _draw_int4_multiplied(d: Case) -> Value:
    kernel = d.pair(1, 4)
    x = d.image(d.batch(), d.integer(2, 9), kernel)
    strides: dict[str, Any] = {"stride": d.pair(1, 2), "padding": d.padding(kernel)}
    return d.depthwise_conv2d(x, d.integer(2, 6), kernel=kernel, **strides, clamp=d.clamp(), element=Element.INT4)


def call_dims(node: Node, geometry: Geometry) -> CallDims:
    """Returns the sizes of a call for `node` with `geometry`."""
    out_c = node.inputs[1].shape[0]
    return CallDims(
        (geometry.batch, *geometry.input, node.inputs[0].shape[1]),
        (1, *geometry.kernel, out_c),
        (geometry.batch, *geometry.output, out_c),
    )


def channel_multiplier(node: Node) -> int:
    """Returns the output channels per input channel."""
    return node.inputs[1].shape[0] // node.inputs[0].shape[1]


class DepthwiseConv2d(Convolution):
    """Like conv2d, with as many groups as input channels: output channel o reads o // ch_mult.

    CMSIS-NN: arm_depthwise_conv_wrapper_s8, and arm_depthwise_conv_s4 for weights of 4 bits. Layers with one input
    channel are a conv2d, because the wrapper would rearrange their weights at every call.
    """

    name = "depthwise_conv2d"
    targets = aten_convolution.TARGETS
    # The quantizer only sees a convolution; `claims` tells the two kinds apart.
    annotation = NotAnnotated("it is conv2d to the quantizer")
    kernels = (KERNEL, INT4)
    draws = (_draw_general, _draw_3x3, _draw_multiplied, _draw_dilated, _draw_int4, _draw_int4_multiplied)
    limits = (
        "convolution with as many groups as input channels, 2 or more; larger ones than CMSIS-NN takes are a conv2d",
        "in int16 it is a conv2d with groups",
        f"{constant_weights.INT4_LIMIT} with int8 activations",
        "batch norm that no layer before it takes over",
    )

    def claims(self, node: EdgeNode, context: EdgeContext) -> bool:
        return aten_convolution.is_depthwise(node, context)

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        x, weight, bias = node.inputs
        attrs = node.attrs
        n, out_h, out_w, out_c = storage.nhwc(node.output)
        kernel = self._filter(node).reshape(-1, out_c).astype(np.int32)
        image = inputs[0].reshape(storage.nhwc(x)).astype(np.int32) - x.zero_point
        image = np.repeat(image, channel_multiplier(node), axis=3)
        # int32, as in the kernels: |product| < 2^16, and a sum that overflows wraps.
        acc = np.zeros((n, out_h, out_w, out_c), np.int32)
        pixels = taps(image, pair(weight.shape[2:]), attrs.stride, attrs.dilation, attrs.padding, (out_h, out_w), 0)
        for tap, under in enumerate(pixels):
            acc += under * kernel[tap]
        return per_channel_requantize.finish(node, acc, bias.constant).reshape(node.output.storage_shape)

    def links(self, node: Node) -> Sequence[Link]:
        return channels.links_of_groups(node)

    def narrow(self, node: Node, inputs: np.ndarray, outputs: np.ndarray) -> None:
        channels.narrow_groups(node, inputs, outputs)
        if rules.becomes_convolution(node.attrs.groups):
            node.op = "conv2d"

    def features(self, node: Node) -> Features:
        geometry = Geometry.of(node)
        outputs, multiplier = int(node.inputs[1].shape[0]), channel_multiplier(node)
        pixels, taps = geometry.batch * math.prod(geometry.output), math.prod(geometry.kernel)
        inside = geometry.batch * math.prod(geometry.taps_inside())
        # CMSIS-NN has functions for these.
        plain = geometry.dilation == (1, 1)
        if rules.takes_3x3(geometry.batch, multiplier, *geometry.kernel, *geometry.padding, *geometry.dilation):
            path = "3x3"
        elif multiplier == 1 and plain and geometry.batch == 1:
            path = "one image"
        elif multiplier % 4 == 0 and plain and geometry.batch == 1:
            path = "fours"
        else:
            path = "" if multiplier == 1 else "multiplied"
        return Features(
            {
                "pixels": pixels,
                "taps": pixels * taps,
                "taps in the image": inside,
                "outputs": pixels * outputs,
                "outputs by 4": pixels * (outputs // 4),
                "vectors of outputs": pixels * blocks_of(outputs, 16),
                "products": pixels * outputs * taps,
                "products in the image": inside * outputs,
                "products by 4": inside * (outputs // 4),
                "vectors": pixels * taps * blocks_of(outputs, 16),
                "taps of inputs": inside * (outputs // multiplier),
            },
            path,
        )

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        before, after = Geometry.plain(node), Geometry.of(node)
        # Zeros in front shift the windows, as more padding does.
        front = [(b - a) // d for a, b, d in zip(before.padding, after.padding, after.dilation)]
        total = [b - a for a, b in zip(before.kernel, after.kernel)]
        grown = [(f, t - f) for f, t in zip(front, total)]
        weights = np.pad(self._filter(node), (*grown, (0, 0)))
        return per_channel_requantize.constants(node, node.inputs[1].type.packed(weights), node.inputs[2].constant)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        geometry = Geometry.of(node)
        dims, multiplier = call_dims(node, geometry), channel_multiplier(node)
        scratch = None if node.inputs[1].element is Element.INT4 else scratch_bytes
        return conv_args.encode(node, refs, scratch, geometry, dims, ch_mult=multiplier)

    def _filter(self, node: Node) -> np.ndarray:
        """int8 [h, w, out]."""
        return np.ascontiguousarray(node.inputs[1].constant[:, 0].transpose(1, 2, 0))
