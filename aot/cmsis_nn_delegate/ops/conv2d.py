"""int8 two-dimensional convolution, grouped and dilated."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Optional

import numpy as np

from ..edge.refusal import Refusal
from ..graph.ir import Node
from ..payload.schema import Opcode
from ..target import Target
from . import conv_call, convolution, per_channel, storage
from .conv_call import CallDims
from .geometry import Geometry
from .op import Op
from .windows import taps


class Conv2d(Op):
    """acc = bias + sum(weight * (x - zero point)), requantized per output channel.

    CMSIS-NN: arm_convolve_wrapper_s8. A one-channel input stays here: as a depthwise
    convolution it would be several times slower on cores without MVE.
    """

    name = "conv2d"
    targets = convolution.TARGETS
    opcode = Opcode.CONV2D

    def claims(self, node: Any, context: Any) -> bool:
        return not convolution.is_depthwise(node, context)

    def check(self, node: Any, context: Any) -> Optional[Refusal]:
        return convolution.check(node, context)

    def build(self, node: Any, context: Any) -> list[Node]:
        return convolution.build(self.name, node, context)

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        x, weight, bias = node.inputs
        attrs = node.attrs
        _, out_h, out_w, out_c = storage.nhwc(node.output)
        # float64 is exact below 2^53, which no int8 sum reaches, and has a fast product.
        image = inputs[0].reshape(storage.nhwc(x)).astype(np.float64) - x.quant.zero_point
        # [taps, n, h, w, c]; outside of the image (x - zero point) is 0.
        columns = np.stack(
            list(
                taps(
                    image,
                    weight.shape[2:],
                    attrs.stride,
                    attrs.dilation,
                    attrs.padding,
                    (out_h, out_w),
                    0,
                )
            ),
            axis=-2,
        )
        per_group = out_c // attrs.groups
        in_per_group = weight.shape[1]
        sums = []
        for group in range(attrs.groups):
            part = columns[..., group * in_per_group : (group + 1) * in_per_group]
            kernel = self._filter(node)[group * per_group : (group + 1) * per_group]
            sums.append(
                part.reshape(-1, part.shape[-2] * in_per_group) @ kernel.reshape(per_group, -1).astype(np.float64).T
            )
        acc = np.concatenate(sums, axis=1).reshape(storage.nhwc(node.output))
        return per_channel.finish(node, acc, bias.data).reshape(node.output.storage_shape)

    def macs(self, node: Node) -> int:
        return node.output.numel * node.inputs[1].numel // node.inputs[1].shape[0]

    def scratch_bytes(self, node: Node, target: Target) -> int:
        geometry = Geometry.of(node).legalized()
        dims = self._dims(node, geometry)
        return conv_call.scratch_bytes("convolve_wrapper_buffer_size", node, target, geometry, dims)

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        weights = self._filter(node)
        out_c, in_per_group = node.inputs[1].shape[:2]
        weights = weights.reshape(out_c, -1, in_per_group)
        # A kernel that `legalized` has made higher: rows of zeros below.
        extra = math.prod(Geometry.of(node).legalized().kernel) - weights.shape[1]
        weights = np.pad(weights, ((0, 0), (0, extra), (0, 0)))
        return per_channel.constants(node, weights, node.inputs[2].data)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        geometry = Geometry.of(node).legalized()
        geometry.require_convolution(node.inputs[0].shape[1], node.inputs[1].shape[1])
        return conv_call.encode(node, refs, scratch_bytes, geometry, self._dims(node, geometry))

    def _dims(self, node: Node, geometry: Geometry) -> CallDims:
        out_c, in_per_group = node.inputs[1].shape[:2]
        return CallDims(
            (geometry.batch, *geometry.input, node.inputs[0].shape[1]),
            (out_c, *geometry.kernel, in_per_group),
            (geometry.batch, *geometry.output, out_c),
        )

    def _filter(self, node: Node) -> np.ndarray:
        """int8 [out, h, w, in per group]."""
        return np.ascontiguousarray(node.inputs[1].data.transpose(0, 2, 3, 1))
