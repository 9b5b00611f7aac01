"""int8 maximum pooling; padding does not count."""

from __future__ import annotations

from functools import reduce
from typing import Any, Mapping, Sequence

import numpy as np

from ..graph.ir import Node
from ..payload.schema import Opcode
from . import pooling, storage
from .op import Op
from .windows import taps


class MaxPool2d(Op):
    """Maximum of the pixels of each window that lie in the image.

    Input and output have one scale and zero point. CMSIS-NN: arm_max_pool_s8.
    """

    name = "max_pool2d"
    opcode = Opcode.MAX_POOL2D

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        attrs = node.attrs
        _, out_h, out_w, _ = storage.nhwc(node.output)
        image = inputs[0].reshape(storage.nhwc(node.inputs[0]))
        pixels = taps(image, attrs.kernel, attrs.stride, (1, 1), attrs.padding, (out_h, out_w), -128)
        lo, hi = attrs.clamp.quantized(node.output.quant)
        return np.clip(reduce(np.maximum, pixels), lo, hi).reshape(node.output.storage_shape)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return {**refs, **pooling.arguments(node)}
