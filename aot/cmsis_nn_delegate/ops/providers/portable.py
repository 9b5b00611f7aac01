"""The portable kernels: plain C++ that computes everything on every core."""

from __future__ import annotations

from ...format.schema import CMSIS_NN_REVISION, PORTABLE_REVISION, ProviderId
from ..kernel import KernelSpec
from .provider import Provider


class Portable(Provider):
    """Its kernels need no scratch memory and no changed geometry, and accept calls compiled for CMSIS-NN."""

    id = ProviderId.PORTABLE
    name = "portable"
    namespace = "portable"
    isa_dependent = False
    takes = {ProviderId.PORTABLE: PORTABLE_REVISION, ProviderId.CMSIS_NN: CMSIS_NN_REVISION}

    def has(self, kernel: KernelSpec) -> bool:
        return True
