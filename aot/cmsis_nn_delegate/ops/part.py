"""A value that is a contiguous part of the memory of another; created by passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..graph.ir import Node, Value
from .annotation import NotAnnotated
from .op import Op, Place


@dataclass(frozen=True)
class PartAttrs:
    """part: the output begins `offset` elements after the start of the input."""

    offset: int


class Part(Op):
    """The output lies in the memory of the input, so that there is nothing to call."""

    name = "part"
    annotation = NotAnnotated("passes create it, from slices")
    attrs = PartAttrs
    only_places = True
    computes = False
    only_moves = True

    def places(self, node: Node) -> list[Place]:
        return [Place(node.output, node.inputs[0], node.attrs.offset * node.output.element.numpy.itemsize)]

    def output_shape(self, inputs: Sequence[Value], attrs: Any) -> tuple[int, ...]:
        raise NotImplementedError("the shape of a part is what its memory is read as")

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        begin = node.attrs.offset
        return inputs[0].reshape(-1)[begin : begin + node.output.numel].reshape(node.output.storage_shape)
