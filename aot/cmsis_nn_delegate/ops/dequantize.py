"""int8 to float32 at the border of the graph, with the change back to row-major."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional

import numpy as np

from ..edge.nodes import DEQUANTIZE, first
from ..edge.refusal import Refusal
from ..graph.ir import Node
from ..payload.schema import Opcode
from . import storage
from .op import Op


class Dequantize(Op):
    """x = float32(q - zero point) * float32(scale)."""

    name = "dequantize"
    targets = (DEQUANTIZE,)
    opcode = Opcode.DEQUANTIZE

    def check(self, node: Any, context: Any) -> Optional[Refusal]:
        return first(
            test()
            for test in (
                lambda: context.refuse_tensors(node),
                lambda: context.refuse_parameters(node),
            )
        )

    def build(self, node: Any, context: Any) -> list[Node]:
        return [context.node(node, self.name, [context.value(node.args[0])])]

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        quant = node.inputs[0].quant
        x = (inputs[0].astype(np.int32) - quant.zero_point).astype(np.float32) * self._scale(node)
        order = storage.reorder(node.inputs[0], node.output)
        return storage.reordered(x, order).reshape(node.output.storage_shape)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        batch, pixels, channels = storage.reorder(node.inputs[0], node.output)
        # Without a change of order the kernel wants one channel, not one pixel.
        if pixels == 1:
            channels, pixels = pixels, channels
        return {
            **refs,
            "batch": batch,
            "channels": channels,
            "pixels": pixels,
            "scale": float(self._scale(node)),
            "zero_point": node.inputs[0].quant.zero_point,
        }

    def _scale(self, node: Node) -> np.float32:
        return np.float32(node.inputs[0].quant.scale[0])
