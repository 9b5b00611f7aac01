"""Appends rows to a delay line."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..format import blocks
from ..format.record import BYTES, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element
from .case import Case
from .delay_line import FIELDS, STATE, DelayLine, Ring
from .delay_line_read import draw_line, draw_read
from .features import Features
from .kernel import KernelSpec

KERNEL = KernelSpec(
    "delay_line_write",
    Struct(
        "DelayLineWriteArgs",
        "A copy of `count` rows over the oldest ones of a delay line, of which they are the newest then.",
        (blocks.input("input", BYTES, "count", "row_bytes", doc="of any element"), STATE, *FIELDS),
        geometry="delay_line",
    ),
)


@dataclass(frozen=True)
class DelayLineWriteAttrs:
    rows: int
    row_bytes: int
    count: int
    channels_last: bool


def _draw(d: Case) -> Value:
    """With a read after it, because a case has an output."""
    line, initial, rows, features = draw_line(d, Element.INT8)
    count = d.integer(1, rows)
    return _written(d, d.input(count, features), line, initial, rows, features)


def _draw_int16(d: Case) -> Value:
    """Of a constant: no input of a model has 16 bits."""
    element = Element.INT16
    line, initial, rows, features = draw_line(d, element)
    x = d.constant((d.integer(1, rows), features), element, element.low, element.high, d.quant(2.0**-15, 0))
    return _written(d, x, line, initial, rows, features)


def _written(d: Case, x: Value, line: Value, initial: Value, rows: int, features: int) -> Value:
    attrs = DelayLineWriteAttrs(rows, features * initial.element.numpy.itemsize, x.shape[0], False)
    d.nodes.append(Node("delay_line_write", "delay_line_write_0", [x, initial], [], attrs, states=[line]))
    return draw_read(d, line, initial, rows, features)


class DelayLineWrite(DelayLine):
    """Input: the rows of this inference. It has no output."""

    name = "delay_line_write"
    attrs = DelayLineWriteAttrs
    kernels = (KERNEL,)
    draws = (_draw, _draw_int16)

    def features(self, node: Node) -> Features:
        words, rest = divmod(node.attrs.row_bytes * node.attrs.count, 4)
        return Features({"pieces": 1, "words": words, "bytes": rest})

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return {**super().encode(node, refs, scratch_bytes), "count": node.attrs.count}

    def compute(self, node: Node, inputs: Sequence[np.ndarray], states: Sequence[np.ndarray]) -> list[np.ndarray]:
        Ring(node, states[0]).write(np.ascontiguousarray(inputs[0]).reshape(-1).view(np.uint8))
        return []
