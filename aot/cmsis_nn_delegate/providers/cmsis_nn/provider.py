"""CMSIS-NN at the pinned commit."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

from ...format.schema import CMSIS_NN_REVISION, ProviderId
from ...ops.kernel import KernelSpec
from ..implementation import Implementation, Symbol
from ..provider import Library, Provider
from .kernels import IMPLEMENTATIONS
from .lacking import WHY_LACKING

_BY_OP: dict[str, tuple[Implementation, ...]] = {}
for _found in IMPLEMENTATIONS:
    _BY_OP[_found.op] = (*_BY_OP.get(_found.op, ()), _found)


class CmsisNn(Provider):
    """Where CMSIS-NN lacks a function, images use the portable kernel. If a function computes a geometry wrongly, it
    is called with an equivalent geometry (`cmsis_nn_geometry`)."""

    id = ProviderId.CMSIS_NN
    name = "cmsis-nn"
    namespace = "cmsis_nn"
    folder = "runtime/kernels"
    source = "{op}/{function}_cmsis_nn.cc"
    header = "runtime/kernels/cmsis_nn/cmsis_nn.h"
    revision = CMSIS_NN_REVISION
    revision_constant = "payload::kCmsisNnRevision"
    isa_dependent = True  # scratch sizes
    library = Library("CMSIS_NN_DELEGATE_CMSIS_NN", "CMSIS_NN_DIR", "Include", "Source", "portable")

    def implementations(self, op: str) -> Sequence[Implementation]:
        return _BY_OP.get(op, ())

    def symbol(self, kernel: KernelSpec) -> Optional[Symbol]:
        return next((found.symbol for found in IMPLEMENTATIONS if found.kernel is kernel), None)

    def why_lacking(self, kernel: KernelSpec) -> str:
        return WHY_LACKING.get(kernel.name, f"CMSIS-NN has no function for {kernel.name}")
