"""The portable kernels: plain C++ that computes everything on every core."""

from __future__ import annotations

from ...format.schema import REVISIONS, ProviderId
from ..kernel import KernelSpec
from .provider import Provider


class Portable(Provider):
    """Its kernels need no changed geometry, and accept calls compiled for other providers: of each tuned kernel there
    is a twin in plain C++, which shows on the host that the arithmetic is right."""

    id = ProviderId.PORTABLE
    name = "portable"
    namespace = "portable"
    isa_dependent = False
    takes = REVISIONS

    def has(self, kernel: KernelSpec) -> bool:
        return True
