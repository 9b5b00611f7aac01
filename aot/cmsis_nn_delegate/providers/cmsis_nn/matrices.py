"""CMSIS-NN's product of matrices."""

from __future__ import annotations

from ...graph.ir import Node
from ...ops import batch_matmul
from ...targets.target import Target
from ..implementation import Implementation, Symbol, Workspace
from . import scratch


class BatchMatmul(Implementation):
    def __init__(self) -> None:
        super().__init__(
            "batch_matmul",
            Symbol(
                batch_matmul.KERNEL,
                "arm_batch_matmul_s8",
                (
                    "FullyConnectedFunctions/arm_batch_matmul_s8.c",
                    "FullyConnectedFunctions/arm_fully_connected_get_buffer_sizes_s8.c",
                    "FullyConnectedFunctions/arm_vector_sum_s8.c",
                    "NNSupportFunctions/arm_nn_vec_mat_mult_t_s8.c",
                ),
            ),
        )

    def workspace(self, node: Node, target: Target) -> Workspace:
        # The sums of the rows of b, as a linear layer has them of its filter's.
        sizes = node.attrs.b
        filter_nhwc = [sizes.row_size, -1, -1, sizes.rows]
        return Workspace(scratch.query("fully_connected_buffer_size", target, filter_nhwc=filter_nhwc))
