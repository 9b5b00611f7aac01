"""float32 to int8 at the border of the graph, with the change to channels-last."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np

from ..graph.ir import Node
from ..payload.schema import Opcode
from . import storage
from .op import Op


class Quantize(Op):
    """q = clamp(round_half_even(x * float32(1 / scale)) + zero point); NaN gives the zero point."""

    name = "quantize"
    opcode = Opcode.QUANTIZE

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        zero_point = node.output.quant.zero_point
        with np.errstate(over="ignore", invalid="ignore"):
            steps = np.rint(inputs[0].astype(np.float32) * self._inverse_scale(node))
        # Bounds of the integer before the zero point is added; both are exact in float32.
        steps = np.clip(np.where(np.isnan(steps), 0, steps), -128 - zero_point, 127 - zero_point)
        q = (steps.astype(np.int32) + zero_point).astype(np.int8)
        order = storage.reorder(node.inputs[0], node.output)
        return storage.reordered(q, order).reshape(node.output.storage_shape)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        batch, channels, pixels = storage.reorder(node.inputs[0], node.output)
        return {
            **refs,
            "batch": batch,
            "channels": channels,
            "pixels": pixels,
            "inverse_scale": float(self._inverse_scale(node)),
            "zero_point": node.output.quant.zero_point,
        }

    def _inverse_scale(self, node: Node) -> np.float32:
        return np.float32(1 / node.output.quant.scale[0])
