"""Kernels that the compiler prepares constants for: `ops.tuned`."""

from __future__ import annotations

from ...format.schema import REVISIONS, ProviderId
from ..kernel import KernelSpec
from ..tuned.registry import is_tuned
from .provider import Provider


class Tuned(Provider):
    """Has kernels of its own only; `choose_kernels` takes one where it computes a node, instead of the kernel that
    another provider has for it. Images with these kernels also have those of CMSIS-NN or plain C++ for the rest."""

    id = ProviderId.TUNED
    name = "tuned"
    namespace = "tuned"
    isa_dependent = False  # each kernel is chosen for the instruction sets that it is for
    takes = REVISIONS

    def has(self, kernel: KernelSpec) -> bool:
        return is_tuned(kernel.name)
