"""Reads rows of a delay line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..format import blocks
from ..format.record import BYTES, I32, Field, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element
from .case import Case
from .delay_line import FIELDS, STATE, DelayLine, Ring, state_of
from .features import Features
from .held import initial_value
from .kernel import KernelSpec

KERNEL = KernelSpec(
    "delay_line_read",
    Struct(
        "DelayLineReadArgs",
        "A copy of rows `first`, `first + step`, ... of a delay line; the oldest row has the number 0.",
        (
            STATE,
            blocks.output(BYTES, "count", "row_bytes", doc="of any element"),
            *FIELDS,
            Field("first", I32, "at least 0"),
            Field("step", I32, "1 to rows; the last row that is read is one of the line"),
        ),
        geometry="delay_line",
    ),
)


@dataclass(frozen=True)
class DelayLineReadAttrs:
    """`shape` of the output, which has `count` rows."""

    shape: tuple[int, ...]
    rows: int
    row_bytes: int
    first: int
    step: int
    count: int
    channels_last: bool


def _draw(d: Case) -> Value:
    line, initial, rows, features = draw_line(d, Element.INT8)
    return draw_read(d, line, initial, rows, features)


def _draw_int16(d: Case) -> Value:
    line, initial, rows, features = draw_line(d, Element.INT16)
    return draw_read(d, line, initial, rows, features)


def draw_line(d: Case, element: Element) -> tuple[Value, Value, int, int]:
    """Returns a state and its initial value, with the number of rows and the elements of each."""
    rows, features = d.integer(1, 9), d.pick(d.integer(1, 12), d.integer(12, 70))
    data = d.random.integers(element.low, element.high, (rows, features), endpoint=True).astype(element.numpy)
    if d.pick(False, True):
        data[:] = d.pick(0, data.flat[0])
    return state_of("line", data.nbytes), initial_value("line", data), rows, features


def draw_read(d: Case, line: Value, initial: Value, rows: int, features: int) -> Value:
    """A read of some rows, of which the floats are an output if they have 16 bits: no output of a model does."""
    element = initial.element
    first = d.integer(0, rows - 1)
    step = d.pick(1, d.integer(1, rows))
    count = d.integer(1, (rows - 1 - first) // step + 1)
    shape = (count, features)
    attrs = DelayLineReadAttrs(shape, rows, features * element.numpy.itemsize, first, step, count, False)
    output = d.node(
        "delay_line_read", [initial], attrs, d.quant(2.0**-15, 0) if element is Element.INT16 else d.quant()
    )
    output.retype(element=element)
    d.nodes[-1].states = [line]
    return d.dequantize(output) if element is Element.INT16 else output


class DelayLineRead(DelayLine):
    """Output: rows that inferences before this one have written."""

    name = "delay_line_read"
    attrs = DelayLineReadAttrs
    kernels = (KERNEL,)
    draws = (_draw, _draw_int16)

    def output_shape(self, inputs: Sequence[Value], attrs: Any) -> tuple[int, ...]:
        shape: tuple[int, ...] = attrs.shape
        return shape

    def features(self, node: Node) -> Features:
        attrs: DelayLineReadAttrs = node.attrs
        pieces = 1 if attrs.step == 1 else attrs.count
        words, rest = divmod(attrs.row_bytes * (attrs.count if attrs.step == 1 else 1), 4)
        return Features({"pieces": pieces, "words": pieces * words, "bytes": pieces * rest})

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        attrs: DelayLineReadAttrs = node.attrs
        return {
            **super().encode(node, refs, scratch_bytes),
            "count": attrs.count,
            "first": attrs.first,
            "step": attrs.step,
        }

    def compute(self, node: Node, inputs: Sequence[np.ndarray], states: Sequence[np.ndarray]) -> list[np.ndarray]:
        attrs: DelayLineReadAttrs = node.attrs
        rows = Ring(node, states[0]).read(attrs.first + attrs.step * np.arange(attrs.count))
        output = node.output
        return [rows.reshape(-1).view(output.element.numpy).reshape(output.storage_shape)]
