"""float32 to int8 at the border of the graph, with the change to channels-last."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional

import numpy as np

from ..edge.nodes import QUANTIZE, first, quant_of
from ..edge.refusal import Reason, Refusal
from ..graph.ir import Node
from ..payload.schema import Opcode
from . import storage
from .op import Op


class Quantize(Op):
    """q = clamp(round_half_even(x * float32(1 / scale)) + zero point); NaN gives the zero point."""

    name = "quantize"
    targets = (QUANTIZE,)
    opcode = Opcode.QUANTIZE

    def check(self, node: Any, context: Any) -> Optional[Refusal]:
        return first(
            test()
            for test in (
                lambda: context.refuse_tensors(node.args[0]),
                lambda: context.refuse_parameters(node),
                lambda: self._refuse_requantize(node, context),
            )
        )

    def build(self, node: Any, context: Any) -> list[Node]:
        return [context.node(node, self.name, [context.value(node.args[0])])]

    def _refuse_requantize(self, node: Any, context: Any) -> Optional[Refusal]:
        before = context.input_quant(node.args[0])
        if before is None or before == quant_of(node):
            return None
        return Refusal(
            Reason.UNSUPPORTED_QUANTIZATION,
            "it only changes scale and zero point of an int8 tensor, for which there is no kernel; "
            "quantize with CmsisNnQuantizer, which shares them between neighbours",
        )

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        q = node.output.quant.quantize(inputs[0])
        order = storage.reorder(node.inputs[0], node.output)
        return storage.reordered(q, order).reshape(node.output.storage_shape)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        batch, channels, pixels = storage.reorder(node.inputs[0], node.output)
        return {
            **refs,
            "batch": batch,
            "channels": channels,
            "pixels": pixels,
            "inverse_scale": float(node.output.quant.inverse_scale),
            "zero_point": node.output.quant.zero_point,
        }
