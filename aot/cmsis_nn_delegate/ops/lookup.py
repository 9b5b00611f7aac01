"""int8 look-up: every element becomes the entry of a table."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..format import blocks
from ..format.record import I8, I32, Field, Role, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, TensorType
from . import channels
from .annotation import NotAnnotated
from .case import Case
from .channels import Bounds, Link
from .function_table import ENTRIES
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


@dataclass(frozen=True)
class LookupAttrs:
    """lookup. Inputs: x, table (int8, [256]). `functions` are what the table computes, one after the other; for
    people."""

    functions: tuple[str, ...] = ()


def has_table(element: Element) -> bool:
    """Returns whether look-ups read elements of this type: a table has an entry for each of its numbers."""
    return element is Element.INT8


def indices(element: Element) -> np.ndarray:
    """Returns int64 [256]: what the entries of a table are the results for. ValueError for types without look-ups."""
    if not has_table(element):
        raise ValueError(f"{element.value} has no look-up")
    return np.arange(element.low, element.high + 1)


def table_value(name: str, entries: np.ndarray) -> Value:
    """Returns the constant operand that holds a table."""
    return Value(name, TensorType(Element.INT8, (ENTRIES,)), np.ascontiguousarray(entries, np.int8))


def entries_of(node: Node) -> np.ndarray:
    """Returns the table of a look-up: the results for -128 to 127."""
    return node.inputs[1].constant


def _draw(d: Case) -> Value:
    shape = d.pick((d.integer(1, 300),), (d.batch(), d.channels(), *d.pair(1, 6)))
    entries = d.constant((ENTRIES,), Element.INT8, Element.INT8.low, Element.INT8.high)
    return d.node("lookup", [d.input(*shape), entries], LookupAttrs(), d.quant())


class Lookup(Op):
    """y = table[x]. The table holds the integers that a function of one number gives (`function_table`), or
    several such functions one after the other.

    TFLite computes some of these functions with tables, too, rounded away from zero at halves, and others in integer
    arithmetic of their own; the table is exact with PyTorch's quantized graph instead, whatever the function.
    """

    name = "lookup"
    annotation = NotAnnotated("passes create it, from functions of one number")
    attrs = LookupAttrs
    kernels = (KERNEL,)
    draws = (_draw,)
    shapeless_input = True
    shapeless_output = True
    in_place = True
    layouts = Layouts.SAME

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        index = inputs[0].reshape(-1).astype(np.int64) - Element.INT8.low
        # Element by element in memory order, as the kernel: shapes may differ in dimensions of 1.
        return entries_of(node)[index].reshape(node.output.storage_shape)

    def bounds(self, node: Node, inputs: Sequence[Bounds]) -> Bounds:
        entries, x = entries_of(node).astype(np.int64), inputs[0]
        found = [
            (part.min(), part.max())
            for part in (
                entries[low - Element.INT8.low : high - Element.INT8.low + 1]
                for low, high in zip(x.low.reshape(-1), x.high.reshape(-1))
            )
        ]
        low, high = np.array(found, np.int64).T
        return Bounds(low.reshape(x.low.shape), high.reshape(x.low.shape))

    def carried(self, node: Node) -> Collection[int]:
        return range(len(node.output.shape)) if node.inputs[0].shape == node.output.shape else ()

    def links(self, node: Node) -> Sequence[Link]:
        return channels.links_of_each(node)

    def channel_parameters(self, node: Node) -> Sequence[bytes]:
        return channels.no_parameters(node)

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        return {"table": entries_of(node)}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return {**refs, "entries": ENTRIES, "count": node.output.numel}
