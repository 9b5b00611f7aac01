"""int8 depthwise convolution: one input channel per group."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np

from ..graph.ir import Node
from ..payload.schema import Opcode
from ..target import Target
from . import per_channel, scratch, storage
from .op import Op
from .windows import taps


class DepthwiseConv2d(Op):
    """As conv2d, with as many groups as input channels: output channel o reads o // ch_mult.

    CMSIS-NN: arm_depthwise_conv_wrapper_s8.
    """

    name = "depthwise_conv2d"
    opcode = Opcode.DEPTHWISE_CONV2D

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        x, weight, bias = node.inputs
        attrs = node.attrs
        n, out_h, out_w, out_c = storage.nhwc(node.output)
        kernel = self._filter(node).reshape(-1, out_c).astype(np.int32)
        image = inputs[0].reshape(storage.nhwc(x)).astype(np.int32) - x.quant.zero_point
        image = np.repeat(image, self._multiplier(node), axis=3)
        # int32, as in the kernels: |product| < 2^16, and a sum that overflows wraps.
        acc = np.zeros((n, out_h, out_w, out_c), np.int32)
        pixels = taps(
            image, weight.shape[2:], attrs.stride, attrs.dilation, attrs.padding, (out_h, out_w), 0
        )
        for tap, under in enumerate(pixels):
            acc += under * kernel[tap]
        return per_channel.finish(node, acc, bias.data).reshape(node.output.storage_shape)

    def macs(self, node: Node) -> int:
        return node.output.numel * node.inputs[1].numel // node.inputs[1].shape[0]

    def scratch_bytes(self, node: Node, target: Target) -> int:
        attrs = node.attrs
        out_c, _, kernel_h, kernel_w = node.inputs[1].shape
        lo, hi = attrs.clamp.quantized(node.output.quant)
        return scratch.query(
            "depthwise_conv_wrapper_buffer_size",
            target,
            input_nhwc=storage.nhwc(node.inputs[0]),
            filter_nhwc=(1, kernel_h, kernel_w, out_c),
            output_nhwc=storage.nhwc(node.output),
            padding_hw=(attrs.padding.top, attrs.padding.left),
            stride_hw=attrs.stride,
            dilation_hw=attrs.dilation,
            ch_mult=self._multiplier(node),
            input_offset=-node.inputs[0].quant.zero_point,
            output_offset=node.output.quant.zero_point,
            activation_min=lo,
            activation_max=hi,
        )

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        return per_channel.constants(node, self._filter(node), node.inputs[2].data)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        attrs = node.attrs
        out_c, _, kernel_h, kernel_w = node.inputs[1].shape
        return {
            **refs,
            "scratch_bytes": scratch_bytes,
            "params": {
                "input_offset": -node.inputs[0].quant.zero_point,
                "output_offset": node.output.quant.zero_point,
                "ch_mult": self._multiplier(node),
                "stride": per_channel.tile(*attrs.stride),
                "padding": per_channel.tile(attrs.padding.top, attrs.padding.left),
                "dilation": per_channel.tile(*attrs.dilation),
                "activation": per_channel.activation(attrs.clamp, node.output.quant),
            },
            "input_dims": storage.dims(*storage.nhwc(node.inputs[0])),
            "filter_dims": storage.dims(1, kernel_h, kernel_w, out_c),
            "output_dims": storage.dims(*storage.nhwc(node.output)),
        }

    def _multiplier(self, node: Node) -> int:
        """Output channels per input channel."""
        return node.inputs[1].shape[0] // storage.nhwc(node.inputs[0])[3]

    def _filter(self, node: Node) -> np.ndarray:
        """int8 [h, w, out]."""
        return np.ascontiguousarray(node.inputs[1].data[:, 0].transpose(1, 2, 0))
