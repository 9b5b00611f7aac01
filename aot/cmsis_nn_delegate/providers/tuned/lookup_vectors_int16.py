"""Look-up of int16 by gather loads, for cores with MVE."""

from __future__ import annotations

from ...format.element import Element
from ...format.record import Struct
from ...graph.ir import Value
from ...ops import lookup
from ...ops.case import Case
from ...ops.function_table import KNOTS
from ...ops.kernel import KernelSpec
from ...ops.lookup import LookupAttrs
from ..implementation import Symbol
from .lookup_vectors import LookupVectors


def _draw(d: Case) -> Value:
    """Of any length, and any entries, however far they are apart."""
    element = Element.INT16
    entries = d.constant((d.pick(*KNOTS),), element, element.low, element.high)
    x = d.input(1, d.integer(1, 90), element=element)
    return d.node("lookup", [x, entries], LookupAttrs(clamp=d.clamp()), d.quant(element=element))


KERNEL = KernelSpec(
    "lookup_vectors_int16",
    Struct(
        "LookupVectorsInt16Args",
        "int16 look-up of each element with interpolation, as lookup_int16 computes it, vector by vector. The output "
        "may be the input.",
        lookup.INT16.args.fields,
    ),
)


class LookupVectorsInt16(LookupVectors):
    """`LookupVectors` of int16: the entries on both sides of four elements, with one load each."""

    name = "lookup_vectors_int16"
    like = lookup.INT16
    draws = (_draw,)
    lanes = 4  # of 32 bits, which differences of entries times a distance need

    symbol = Symbol(KERNEL, helpers=("runtime/kernels/lookup/lookup_vectors_int16_{isa}.S",))
