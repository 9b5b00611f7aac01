"""CMSIS-NN's linear layers of int16: `arm_convolve_s16`, for which the rows of a batch are the pixels of a row; and
those with weights of 4 bits: the product of matrices of its pointwise convolutions.

arm_fully_connected_s16 has sums of 64 bits and one multiplier, which it rounds to 16 bits. arm_fully_connected_s4 has
one multiplier, too.
"""

from __future__ import annotations

from ...graph.ir import Node
from ...ops import fully_connected, storage
from ...ops.conv_args import CallDims
from ...ops.geometry import Geometry
from ...targets.target import Target
from ..implementation import Implementation, Symbol, Workspace
from .convolution import CONVOLVE_INT16, INT16_READS_PAST, PRODUCT_INT4, int16_workspace


class FullyConnectedInt16(Implementation):
    def __init__(self) -> None:
        super().__init__(
            "fully_connected",
            Symbol(fully_connected.INT16, "arm_convolve_s16", CONVOLVE_INT16, reads_past=INT16_READS_PAST),
        )

    def workspace(self, node: Node, target: Target) -> Workspace:
        outputs, inputs = node.inputs[1].shape
        rows = storage.rows_of(node.inputs[0], inputs)
        geometry = Geometry(1, (1, rows), (1, 1), (1, rows), (1, 1), (0, 0), (1, 1))
        dims = CallDims((1, 1, rows, inputs), (outputs, 1, 1, inputs), (1, 1, rows, outputs))
        return int16_workspace(node, target, geometry, dims)


FULLY_CONNECTED_INT4 = Implementation(
    "fully_connected", Symbol(fully_connected.INT4, "arm_nn_mat_mult_nt_t_s4", PRODUCT_INT4)
)
