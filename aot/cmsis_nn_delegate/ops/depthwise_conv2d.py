"""int8 depthwise convolution: one input channel per group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, Optional

import numpy as np

from ..edge.refusal import Refusal
from ..graph.ir import Node
from ..payload.schema import Opcode
from ..target import Target
from . import cmsis_nn_rules as rules
from . import conv_call, convolution, per_channel, storage
from .conv_call import CallDims
from .geometry import Geometry
from .op import Op
from .windows import taps


class DepthwiseConv2d(Op):
    """As conv2d, with as many groups as input channels: output channel o reads o // ch_mult.

    CMSIS-NN: arm_depthwise_conv_wrapper_s8. One input channel is conv2d's business: the
    wrapper would rearrange the weights at every call.
    """

    name = "depthwise_conv2d"
    targets = convolution.TARGETS
    opcode = Opcode.DEPTHWISE_CONV2D

    def claims(self, node: Any, context: Any) -> bool:
        return convolution.is_depthwise(node, context)

    def check(self, node: Any, context: Any) -> Optional[Refusal]:
        return convolution.check(node, context)

    def build(self, node: Any, context: Any) -> list[Node]:
        return convolution.build(self.name, node, context)

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        x, weight, bias = node.inputs
        attrs = node.attrs
        n, out_h, out_w, out_c = storage.nhwc(node.output)
        kernel = self._filter(node).reshape(-1, out_c).astype(np.int32)
        image = inputs[0].reshape(storage.nhwc(x)).astype(np.int32) - x.quant.zero_point
        image = np.repeat(image, self._multiplier(node), axis=3)
        # int32, as in the kernels: |product| < 2^16, and a sum that overflows wraps.
        acc = np.zeros((n, out_h, out_w, out_c), np.int32)
        pixels = taps(image, weight.shape[2:], attrs.stride, attrs.dilation, attrs.padding, (out_h, out_w), 0)
        for tap, under in enumerate(pixels):
            acc += under * kernel[tap]
        return per_channel.finish(node, acc, bias.data).reshape(node.output.storage_shape)

    def macs(self, node: Node) -> int:
        return node.output.numel * node.inputs[1].numel // node.inputs[1].shape[0]

    def scratch_bytes(self, node: Node, target: Target) -> int:
        geometry = self._geometry(node)
        return conv_call.scratch_bytes(
            "depthwise_conv_wrapper_buffer_size",
            node,
            target,
            geometry,
            self._dims(node, geometry),
            ch_mult=self._multiplier(node),
        )

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        before, after = Geometry.of(node), self._geometry(node)
        # Zeros in front shift the windows, as more padding does.
        front = [(b - a) // d for a, b, d in zip(before.padding, after.padding, after.dilation)]
        total = [b - a for a, b in zip(before.kernel, after.kernel)]
        grown = [(f, t - f) for f, t in zip(front, total)]
        weights = np.pad(self._filter(node), (*grown, (0, 0)))
        return per_channel.constants(node, weights, node.inputs[2].data)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        if rules.becomes_convolution(node.inputs[0].shape[1]):
            raise ValueError(f"{node.name}: one input channel; build a conv2d instead")
        geometry = self._geometry(node)
        geometry.require_depthwise(node.inputs[0].shape[1], self._multiplier(node))
        dims = self._dims(node, geometry)
        return conv_call.encode(node, refs, scratch_bytes, geometry, dims, ch_mult=self._multiplier(node))

    def _geometry(self, node: Node) -> Geometry:
        """As the call has it: every window overlaps the image.

        Where arm_depthwise_conv_3x3_s8 does not do what it is asked for, the kernel gets a fourth column
        of zeros, which changes no sum and selects the general kernel. For every target alike.
        """
        geometry = Geometry.of(node).overlapping()
        special = rules.takes_3x3(
            geometry.batch,
            self._multiplier(node),
            *geometry.kernel,
            *geometry.padding,
            *geometry.dilation,
        )
        if special and not rules.fits_3x3(
            geometry.input[1], geometry.output[1], geometry.stride[1], geometry.padding[1]
        ):
            return replace(geometry, kernel=(3, 4))
        return geometry

    def _dims(self, node: Node, geometry: Geometry) -> CallDims:
        out_c = node.inputs[1].shape[0]
        return CallDims(
            (geometry.batch, *geometry.input, node.inputs[0].shape[1]),
            (1, *geometry.kernel, out_c),
            (geometry.batch, *geometry.output, out_c),
        )

    def _multiplier(self, node: Node) -> int:
        """Output channels per input channel."""
        return node.inputs[1].shape[0] // storage.nhwc(node.inputs[0])[3]

    def _filter(self, node: Node) -> np.ndarray:
        """int8 [h, w, out]."""
        return np.ascontiguousarray(node.inputs[1].data[:, 0].transpose(1, 2, 0))
