"""Look-up: every element becomes the entry of a table or, of int16, a number between two entries."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..format import blocks
from ..format.record import I8, I16, I32, Field, Role, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, TensorType
from . import block_values
from .annotation import NotAnnotated
from .attrs import Clamp
from .case import Case
from .channels import Bounds
from .features import Features
from .function_table import ENTRIES, KNOTS, interpolated
from .kernel import KernelSpec
from .layouts import Layouts
from .op import Op

KERNEL = KernelSpec(
    "lookup",
    Struct(
        "LookupArgs",
        "int8 table look-up of each element. The output may be the input.",
        (
            blocks.input("input", I8, "count", doc="int8 [count]"),
            blocks.operand(Role.FILTER, "table", I8, ("entries",), "int8 [256]: the results for -128 to 127"),
            blocks.output(I8, "count", doc="int8 [count]"),
            Field("entries", I32, low=ENTRIES, high=ENTRIES),
            Field("count", I32, "elements"),
        ),
    ),
)

INT16 = KernelSpec(
    "lookup_int16",
    Struct(
        "LookupInt16Args",
        "int16 look-up of each element in a table of every 128th, 64th or 32nd result, with interpolation between two "
        "entries. The output may be the input.",
        (
            blocks.input("input", I16, "count", doc="int16 [count]"),
            blocks.operand(
                Role.FILTER,
                "table",
                I16,
                ("entries",),
                "int16 [entries]: results from that for -32768 to that for 32768",
            ),
            blocks.output(I16, "count", doc="int16 [count]"),
            Field("entries", I32, "513, 1025 or 2049; between them, only so many count", low=KNOTS[0], high=KNOTS[-1]),
            Field("activation", blocks.ACTIVATION_INT16),
            Field("count", I32, "elements"),
        ),
    ),
    priced_as="mul",
)


@dataclass(frozen=True)
class LookupAttrs:
    """lookup. Inputs: x, table (int8 [256], or int16 [513] or more). `functions` are what the table computes, one after
    the other; for people. `clamp` limits what is interpolated; a table of int8 contains its clamp."""

    functions: tuple[str, ...] = ()
    clamp: Clamp = Clamp()


def has_table(element: Element) -> bool:
    """Returns whether a table has an entry for each number of this type."""
    return element is Element.INT8


def indices(element: Element) -> np.ndarray:
    """Returns int64 [256]: what the entries of a table are the results for. ValueError for other types."""
    if not has_table(element):
        raise ValueError(f"{element.value} has no table of all its numbers")
    return np.arange(element.low, element.high + 1)


def table_value(name: str, entries: np.ndarray) -> Value:
    """Returns the constant operand that holds a table, int8 [256] or int16 [513] and more."""
    element = Element.INT8 if len(entries) == ENTRIES else Element.INT16
    return Value(name, TensorType(element, entries.shape), np.ascontiguousarray(entries, element.numpy))


def entries_of(node: Node) -> np.ndarray:
    """Returns the table of a look-up."""
    return node.inputs[1].constant


def results(node: Node) -> np.ndarray:
    """Returns what a look-up gives for each number of its type, in order."""
    if has_table(node.inputs[0].element):
        return entries_of(node)
    element = node.output.element
    found = interpolated(entries_of(node), np.arange(element.low, element.high + 1))
    limited: np.ndarray = np.clip(found, *node.attrs.clamp.quantized(node.output.type)).astype(element.numpy)
    return limited


def _draw(d: Case) -> Value:
    shape = d.pick((d.integer(1, 300),), (d.batch(), d.channels(), *d.pair(1, 6)))
    entries = d.constant((ENTRIES,), Element.INT8, Element.INT8.low, Element.INT8.high)
    return d.node("lookup", [d.input(*shape), entries], LookupAttrs(), d.quant())


def _draw_int16(d: Case) -> Value:
    """Of any entries, however far they are apart."""
    element = Element.INT16
    shape = d.pick((d.integer(1, 300),), (d.batch(), d.channels(), *d.pair(1, 6)))
    entries = d.constant((d.pick(*KNOTS),), element, element.low, element.high)
    x = d.input(*shape, element=element)
    return d.node("lookup", [x, entries], LookupAttrs(clamp=d.clamp()), d.quant(element=element))


class Lookup(Op):
    """y = table[x] of int8. The table holds the integers that a function of one number gives (`function_table`), or
    several such functions one after the other.

    TFLite computes some of these functions with tables, too, rounded away from zero at halves, and others in integer
    arithmetic of their own; the table is exact with PyTorch's quantized graph instead, whatever the function.

    Of int16 and 513 entries, y = table[i] + ((table[i + 1] - table[i]) * (x mod 128) + 64) / 128, rounded down, for i =
    x / 128 + 256 [TFLite LUTLookup, kernels/internal/common.h], where 16 bits hold each difference; here any difference
    counts, and a table may have two or four times as many entries.
    """

    name = "lookup"
    annotation = NotAnnotated("passes create it, from functions of one number")
    attrs = LookupAttrs
    kernels = (KERNEL, INT16)
    draws = (_draw, _draw_int16)
    shapeless_input = True
    shapeless_output = True
    in_place = True
    layouts = Layouts.SAME
    each_channel = True

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        index = inputs[0].reshape(-1).astype(np.int64) - node.inputs[0].element.low
        # Element by element in memory order, as the kernel: shapes may differ in dimensions of 1.
        return results(node)[index].reshape(node.output.storage_shape)

    def bounds(self, node: Node, inputs: Sequence[Bounds]) -> Bounds:
        found, x, first = results(node).astype(np.int64), inputs[0], node.inputs[0].element.low
        ends = [
            (part.min(), part.max())
            for part in (
                found[low - first : high - first + 1] for low, high in zip(x.low.reshape(-1), x.high.reshape(-1))
            )
        ]
        low, high = np.array(ends, np.int64).T
        return Bounds(low.reshape(x.low.shape), high.reshape(x.low.shape))

    def carried(self, node: Node) -> Collection[int]:
        return range(len(node.output.shape)) if node.inputs[0].shape == node.output.shape else ()

    def features(self, node: Node) -> Features:
        path = "" if has_table(node.output.element) or node.attrs.clamp.limits(node.output.type) else "unlimited"
        return Features({"inputs": node.output.numel}, path)

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        return {"table": entries_of(node)}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        fields: dict[str, Any] = {**refs, "entries": len(entries_of(node)), "count": node.output.numel}
        if not has_table(node.inputs[0].element):
            fields["activation"] = block_values.activation(node.attrs.clamp, node.output.type)
        return fields
