"""int8 change of memory order; created by passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..graph.ir import Node
from ..payload.schema import Opcode
from . import storage
from .op import Op


class Transpose(Op):
    """The same logical values in the layout of the output; a copy if that is the input's."""

    name = "transpose"
    opcode = Opcode.TRANSPOSE

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        order = storage.reorder(node.inputs[0], node.output)
        return storage.reordered(inputs[0], order).reshape(node.output.storage_shape)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        batch, rows, columns = storage.reorder(node.inputs[0], node.output)
        return {**refs, "batch": batch, "rows": rows, "columns": columns}
