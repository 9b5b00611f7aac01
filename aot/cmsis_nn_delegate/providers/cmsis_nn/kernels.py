"""The kernels that CMSIS-NN has functions for.

Where a function needs no more than the operator's own argument block, a line here is all; the others are classes in
the files beside this one. `lacking` says why there is none for the rest.
"""

from __future__ import annotations

from ...ops import add, batch_matmul, extremum, fully_connected, lstm, max_pool2d, mul, softmax
from ...ops.kernel import KernelSpec
from ..implementation import Implementation, Symbol
from .convolution import (
    Conv2d,
    Conv2dInt4,
    Conv2dInt16,
    Conv2dWide,
    DepthwiseConv2d,
    DepthwiseConv2dInt4,
    TransposeConv2d,
    Unpacked,
    UnpackedWithDsp,
)
from .linear import FULLY_CONNECTED_INT4, FullyConnectedInt16
from .matrices import BatchMatmul
from .pooling import AvgPool2d, AvgPool2dInt16
from .recurrent import Lstm


def _plain(op: str, kernel: KernelSpec, function: str, *sources: str) -> Implementation:
    """Returns the implementation of `kernel` by `function` of CMSIS-NN, which is in `sources`."""
    return Implementation(op, Symbol(kernel, function, sources))


def _of_rows(op: str, kernel: KernelSpec, function: str, *sources: str, rows: str = "broadcast") -> Implementation:
    """Returns the same for a kernel that calls the function for each row of tensors that are repeated, which the file
    `rows` walks."""
    return Implementation(op, Symbol(kernel, function, sources, helpers=(f"runtime/kernels/common/{rows}.cc",)))


class _OutdoneRows(Implementation):
    """A kernel of rows that the portable one outdoes: that compares four bytes at a time with DSP, and 16 in 5
    instructions with MVE."""

    outdone = True

    def __init__(self, op: str, kernel: KernelSpec, function: str, *sources: str) -> None:
        rows = _of_rows(op, kernel, function, *sources)
        super().__init__(op, rows.symbol)


_ADD_INT16 = "arm_elementwise_add_s16", "BasicMathFunctions/arm_elementwise_add_s16.c"
_MUL_INT16 = "arm_elementwise_mul_s16", "BasicMathFunctions/arm_elementwise_mul_s16.c"
_MATRICES_INT16 = (
    "arm_batch_matmul_s16",
    "FullyConnectedFunctions/arm_batch_matmul_s16.c",
    "NNSupportFunctions/arm_nn_vec_mat_mult_t_s16_s16.c",
)
_ADD = "arm_elementwise_add_s8", "BasicMathFunctions/arm_elementwise_add_s8.c"
_MUL = "arm_elementwise_mul_s8", "BasicMathFunctions/arm_elementwise_mul_s8.c"
_PER_CHANNEL = "arm_nn_vec_mat_mult_t_per_ch_s8", "NNSupportFunctions/arm_nn_vec_mat_mult_t_per_ch_s8.c"
_PER_TENSOR = "arm_nn_vec_mat_mult_t_s8", "NNSupportFunctions/arm_nn_vec_mat_mult_t_s8.c"
_SOFTMAX = "SoftmaxFunctions/arm_nn_softmax_common_s8.c", "SoftmaxFunctions/arm_softmax_s8.c"

IMPLEMENTATIONS: tuple[Implementation, ...] = (
    _plain("add", add.KERNEL, *_ADD),
    _of_rows("add", add.BROADCAST_KERNEL, *_ADD),
    _plain("add", add.INT16, *_ADD_INT16),
    _of_rows("add", add.BROADCAST_INT16, *_ADD_INT16, rows="broadcast_int16"),
    AvgPool2d(),
    AvgPool2dInt16(),
    BatchMatmul(),
    _plain("batch_matmul", batch_matmul.INT16, *_MATRICES_INT16),
    Conv2d(),
    Conv2dInt16(),
    Conv2dWide(),
    Conv2dInt4(),
    DepthwiseConv2d(),
    UnpackedWithDsp(),
    DepthwiseConv2dInt4(),
    Unpacked(),
    _OutdoneRows("extremum", extremum.MINIMUM, "arm_minimum_s8", "BasicMathFunctions/arm_minimum_s8.c"),
    _OutdoneRows("extremum", extremum.MAXIMUM, "arm_maximum_s8", "BasicMathFunctions/arm_maximum_s8.c"),
    _plain("fully_connected", fully_connected.PER_CHANNEL, *_PER_CHANNEL),
    _plain("fully_connected", fully_connected.PER_TENSOR, *_PER_TENSOR),
    FullyConnectedInt16(),
    FULLY_CONNECTED_INT4,
    Lstm(lstm.KERNEL),
    Lstm(lstm.LENGTHS_KERNEL),
    _plain("max_pool2d", max_pool2d.KERNEL, "arm_max_pool_s8", "PoolingFunctions/arm_max_pool_s8.c"),
    _plain("max_pool2d", max_pool2d.INT16, "arm_max_pool_s16", "PoolingFunctions/arm_max_pool_s16.c"),
    _plain("mul", mul.INT16, *_MUL_INT16),
    _of_rows("mul", mul.BROADCAST_INT16, *_MUL_INT16, rows="broadcast_int16"),
    _plain("mul", mul.KERNEL, *_MUL),
    _of_rows("mul", mul.BROADCAST_KERNEL, *_MUL),
    _plain("softmax", softmax.KERNEL, "arm_softmax_s8", *_SOFTMAX),
    TransposeConv2d(),
)
