"""int8 average pooling; padding does not count."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np

from ..graph.ir import Node
from ..payload.schema import Opcode
from ..target import Target
from . import pooling, scratch, storage
from .op import Op
from .windows import taps


class AvgPool2d(Op):
    """Mean of the pixels of each window that lie in the image, halves away from zero.

    Input and output have one scale and zero point. CMSIS-NN: arm_avgpool_s8.
    """

    name = "avg_pool2d"
    opcode = Opcode.AVG_POOL2D

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        attrs = node.attrs
        _, out_h, out_w, _ = storage.nhwc(node.output)
        image = inputs[0].reshape(storage.nhwc(node.inputs[0])).astype(np.int64)
        inside = np.ones((1, *image.shape[1:3], 1), np.int64)
        window = (attrs.kernel, attrs.stride, (1, 1), attrs.padding, (out_h, out_w), 0)
        total = sum(taps(image, *window))
        count = sum(taps(inside, *window))
        magnitude = (np.abs(total) + count // 2) // count
        lo, hi = attrs.clamp.quantized(node.output.quant)
        mean = np.clip(np.sign(total) * magnitude, lo, hi).astype(np.int8)
        return mean.reshape(node.output.storage_shape)

    def scratch_bytes(self, node: Node, target: Target) -> int:
        _, _, out_w, channels = storage.nhwc(node.output)
        return scratch.query("avgpool_buffer_size", target, dim_dst_width=out_w, ch_src=channels)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return {**refs, "scratch_bytes": scratch_bytes, **pooling.arguments(node)}
