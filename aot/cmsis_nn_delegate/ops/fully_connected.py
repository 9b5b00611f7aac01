"""int8 linear layer with per-channel weights."""

from __future__ import annotations

from typing import Any, Mapping, Sequence

import numpy as np

from ..graph.ir import Node
from ..payload.schema import Opcode
from . import per_channel, storage
from .op import Op
from .quantized_math import wrap32


class FullyConnected(Op):
    """acc = bias + weight @ (x - zero point), requantized per output.

    The part of the sum that does not depend on x, -zero point * sum(weight row), is added to
    the bias ahead of time. The kernels then need neither an input offset nor, on MVE,
    kernel sums: no scratch on any core. CMSIS-NN: arm_fully_connected_per_channel_s8.
    """

    name = "fully_connected"
    opcode = Opcode.FULLY_CONNECTED

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        weight = node.inputs[1].data
        rows = inputs[0].reshape(-1, weight.shape[1])
        # float64 is exact below 2^53, which no int8 sum reaches, and has a fast product.
        acc = rows.astype(np.float64) @ weight.astype(np.float64).T
        return per_channel.finish(node, acc, self._bias(node)).reshape(node.output.storage_shape)

    def macs(self, node: Node) -> int:
        return node.output.numel * node.inputs[1].shape[1]

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        return per_channel.constants(node, node.inputs[1].data, self._bias(node))

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        outputs, row_size = node.inputs[1].shape
        batch = storage.rows_of(node.inputs[0], row_size)
        return {
            **refs,
            "params": {
                "input_offset": 0,
                "filter_offset": 0,
                "output_offset": node.output.quant.zero_point,
                "activation": per_channel.activation(node.attrs.clamp, node.output.quant),
            },
            "input_dims": storage.dims(batch, 1, 1, row_size),
            "filter_dims": storage.dims(row_size, 1, 1, outputs),
            "output_dims": storage.dims(batch, 1, 1, outputs),
        }

    def _bias(self, node: Node) -> np.ndarray:
        """int32 [out]: the bias with the input's zero point folded in."""
        x, weight, bias = node.inputs
        row_sums = weight.data.astype(np.int64).sum(axis=1)
        return wrap32(bias.data - x.quant.zero_point * row_sums).astype(np.int32)
