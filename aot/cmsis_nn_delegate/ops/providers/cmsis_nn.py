"""CMSIS-NN at the pinned commit."""

from __future__ import annotations

from ...format.schema import CMSIS_NN_REVISION, PORTABLE_REVISION, Isa, ProviderId, ReadsPast
from ...graph.ir import Node
from ...target import Target
from ..kernel import KernelSpec
from ..op import Op
from .provider import Provider


class CmsisNn(Provider):
    """Where CMSIS-NN lacks a function, images use the portable kernel. If a function computes a geometry wrongly, it
    is called with an equivalent geometry (`cmsis_nn_geometry`)."""

    id = ProviderId.CMSIS_NN
    name = "cmsis-nn"
    namespace = "cmsis_nn"
    isa_dependent = True  # scratch sizes
    takes = {ProviderId.PORTABLE: PORTABLE_REVISION, ProviderId.CMSIS_NN: CMSIS_NN_REVISION}

    def has(self, kernel: KernelSpec) -> bool:
        return bool(kernel.cmsis_nn)

    def why_not(self, kernel: KernelSpec) -> str:
        return kernel.why_portable

    def legalize(self, op: Op, node: Node) -> None:
        op.legalize_for_cmsis_nn(node)

    def scratch_bytes(self, op: Op, node: Node, target: Target) -> int:
        return op.scratch_bytes(node, target)

    def reads_past(self, kernel: KernelSpec, isa: Isa) -> ReadsPast:
        return kernel.reads_past.get(isa, ReadsPast())
