"""All tuned kernels, by the operator whose nodes they compute."""

from __future__ import annotations

from collections.abc import Mapping

from ..kernel import KernelSpec
from .add_linear import AddLinear
from .conv2d_pairs import Conv2dPairs
from .conv2d_vectors import Conv2dVectors
from .conv2d_winograd import Conv2dWinograd
from .depthwise_conv2d_planes import DepthwiseConv2dPlanes
from .depthwise_conv2d_rows import DepthwiseConv2dRows
from .depthwise_conv2d_vectors import DepthwiseConv2dVectors
from .fully_connected_as_conv2d import FullyConnectedAsConv2d
from .fully_connected_pairs import FullyConnectedPairs
from .tuned_kernel import TunedKernel

_CONV2D_PAIRS = Conv2dPairs()

# In the order of preference.
TUNED_KERNELS: tuple[TunedKernel, ...] = (
    _CONV2D_PAIRS,
    DepthwiseConv2dPlanes(),
    FullyConnectedPairs(),
    FullyConnectedAsConv2d(_CONV2D_PAIRS),
    AddLinear(),
    Conv2dVectors(),
    DepthwiseConv2dVectors(),
    Conv2dWinograd(),
    DepthwiseConv2dRows(),
)
SPECS: Mapping[str, KernelSpec] = {kernel.spec.name: kernel.spec for kernel in TUNED_KERNELS}
BY_OP: Mapping[str, tuple[TunedKernel, ...]] = {
    op: tuple(kernel for kernel in TUNED_KERNELS if kernel.op == op) for op in {k.op for k in TUNED_KERNELS}
}


def is_tuned(name: str) -> bool:
    """Returns whether the kernel called `name` is one of these."""
    return name in SPECS
