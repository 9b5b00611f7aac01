"""All tuned kernels, by the operator whose nodes they compute."""

from __future__ import annotations

from collections.abc import Mapping

from .conv2d_pairs import Conv2dPairs
from .tuned_kernel import TunedKernel

# In the order of preference.
TUNED_KERNELS: tuple[TunedKernel, ...] = (Conv2dPairs(),)
BY_OP: Mapping[str, tuple[TunedKernel, ...]] = {
    op: tuple(kernel for kernel in TUNED_KERNELS if kernel.op == op) for op in {k.op for k in TUNED_KERNELS}
}


def is_tuned(name: str) -> bool:
    """Returns whether the kernel called `name` is one of these."""
    return any(kernel.spec.name == name for kernel in TUNED_KERNELS)
