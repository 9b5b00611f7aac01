"""Kernels that the compiler prepares constants for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Optional

from ...format.schema import TUNED_REVISION, ProviderId
from ...ops.kernel import KernelSpec
from ..implementation import Implementation, Symbol
from ..provider import Provider
from .kernels import IMPLEMENTATIONS

_BY_OP: Mapping[str, tuple[Implementation, ...]] = {
    op: tuple(found for found in IMPLEMENTATIONS if found.op == op) for op in {found.op for found in IMPLEMENTATIONS}
}


class Tuned(Provider):
    """Has kernels of its own only: they read constants that the compiler has put in the order in which they need them,
    and they are for some instruction sets each. Each has an opcode and an argument block of its own, so that one image
    may have both it and the operator's kernel."""

    id = ProviderId.TUNED
    name = "tuned"
    namespace = "tuned"
    folder = "runtime/kernels"
    source = "{op}/{function}_tuned.cc"
    header = "runtime/kernels/tuned/tuned.h"
    revision = TUNED_REVISION
    revision_constant = "payload::kTunedRevision"
    for_speed = True
    isa_dependent = False  # each kernel is chosen for the instruction sets that it is for

    def implementations(self, op: str) -> Sequence[Implementation]:
        return _BY_OP.get(op, ())

    def symbol(self, kernel: KernelSpec) -> Optional[Symbol]:
        return next((found.symbol for found in IMPLEMENTATIONS if found.kernel is kernel), None)

    def why_lacking(self, kernel: KernelSpec) -> str:
        return ""  # each says why it does not take a node of its operator
