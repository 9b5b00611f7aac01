"""Look-up of int8 by gather loads, for cores with MVE."""

from __future__ import annotations

from typing import ClassVar

from ...format.element import Element
from ...format.record import Struct
from ...format.schema import Isa
from ...graph.ir import Node, Value
from ...ops import lookup
from ...ops.case import Case
from ...ops.features import Features, blocks_of
from ...ops.function_table import ENTRIES
from ...ops.kernel import KernelSpec
from ...ops.lookup import LookupAttrs
from ..implementation import OwnImplementation, Symbol

_BYTES = 16  # of a vector


def _draw(d: Case) -> Value:
    """Of any length, and any table."""
    entries = d.constant((ENTRIES,), Element.INT8, Element.INT8.low, Element.INT8.high)
    return d.node("lookup", [d.input(1, d.integer(1, 90)), entries], LookupAttrs(), d.quant())


KERNEL = KernelSpec(
    "lookup_vectors",
    Struct(
        "LookupVectorsArgs",
        "int8 table look-up of each element, as lookup computes it, vector by vector. The output may be the input.",
        lookup.KERNEL.args.fields,
    ),
)


class LookupVectors(OwnImplementation):
    """Sixteen entries of the table with one load. Elements are read before they are written: the output may be the
    input."""

    name = "lookup_vectors"
    op = "lookup"
    like = lookup.KERNEL
    isas = frozenset({Isa.MVE})
    assumes = "nothing"
    draws = (_draw,)
    lanes: ClassVar[int] = _BYTES  # elements in a vector

    symbol = Symbol(KERNEL, helpers=("runtime/kernels/lookup/lookup_vectors_{isa}.S",))

    def features(self, node: Node, scratch_bytes: int) -> Features:
        return Features({"vectors": blocks_of(node.output.numel, self.lanes)})
