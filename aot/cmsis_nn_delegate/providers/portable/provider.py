"""The portable kernels: plain C++ that computes everything on every core."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from ...format.schema import PORTABLE_REVISION, ProviderId
from ...ops.kernel import KernelSpec
from ...ops.op import Op
from ...ops.registry import OPS
from ..implementation import Implementation, Symbol
from ..provider import Provider

_ROWS = ("runtime/kernels/common/broadcast.cc",)
# Files that kernels share.
_HELPERS = {
    **dict.fromkeys(("add_broadcast", "add_linear", "add_linear_broadcast", "div"), _ROWS),
    **dict.fromkeys(("maximum", "minimum", "mul_broadcast"), _ROWS),
    **dict.fromkeys(
        ("add_broadcast_int16", "div_int16", "maximum_int16", "minimum_int16", "mul_broadcast_int16"),
        ("runtime/kernels/common/broadcast_int16.cc",),
    ),
}


@functools.cache
def _implementations(op: Op) -> tuple[Implementation, ...]:
    """Returns one for each kernel of `op`."""
    return tuple(Implementation(op.name, _symbol(kernel)) for kernel in op.kernels)


def _symbol(kernel: KernelSpec) -> Symbol:
    return Symbol(kernel, helpers=_HELPERS.get(kernel.name, ()))


class Portable(Provider):
    """Its kernels need no changed geometry, and compute calls that were compiled for any other provider: of each kernel
    that another provider has alone there is a twin in plain C++, which shows on the host that the arithmetic is
    right."""

    id = ProviderId.PORTABLE
    name = "portable"
    namespace = "portable"
    folder = "runtime/kernels"
    source = "{op}/{function}_portable.cc"
    header = "runtime/kernels/portable/portable.h"
    revision = PORTABLE_REVISION
    revision_constant = "payload::kPortableRevision"
    isa_dependent = False

    def implementations(self, op: str) -> Sequence[Implementation]:
        return _implementations(OPS[op])

    def symbol(self, kernel: KernelSpec) -> Symbol:
        return _symbol(kernel)

    def runs(self, provider: int) -> bool:
        return True
