"""Values that lie side by side in one: a value whose bytes are those of its inputs; created by passes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..graph.ir import Node, Value
from .annotation import NotAnnotated
from .op import Op, Place


@dataclass(frozen=True)
class JoinAttrs:
    """join: input i is `lengths[i]` elements of each of `rows` rows of the output, after those of the inputs before it.

    If there are several rows, each input reaches from its first element in the output to its last, over those of the
    other inputs in between.
    """

    rows: int
    lengths: tuple[int, ...]

    @property
    def row(self) -> int:
        """Elements of the output's rows."""
        return sum(self.lengths)

    def span(self, index: int) -> int:
        """Returns how many elements of the output input `index` reaches over."""
        return (self.rows - 1) * self.row + self.lengths[index]

    def offset(self, index: int) -> int:
        """Returns the element of the output where input `index` begins."""
        return sum(self.lengths[:index])


class Join(Op):
    """The output is the memory in which its inputs lie, so that there is nothing to call."""

    name = "join"
    annotation = NotAnnotated("passes create it, from concatenations")
    attrs = JoinAttrs
    only_places = True
    computes = False
    only_moves = True

    def places(self, node: Node) -> list[Place]:
        attrs: JoinAttrs = node.attrs
        size = node.output.element.numpy.itemsize
        return [Place(value, node.output, attrs.offset(i) * size) for i, value in enumerate(node.inputs)]

    def output_shape(self, inputs: Sequence[Value], attrs: Any) -> tuple[int, ...]:
        raise NotImplementedError("the shape of a join is what its memory is read as")

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        attrs: JoinAttrs = node.attrs
        output = np.empty((attrs.rows, attrs.row), node.output.element.numpy)
        for index, data in enumerate(inputs):
            begin, length = attrs.offset(index), attrs.lengths[index]
            padded = np.zeros(attrs.rows * attrs.row, data.dtype)
            padded[: data.size] = data.reshape(-1)
            output[:, begin : begin + length] = padded.reshape(output.shape)[:, :length]
        return output.reshape(node.output.storage_shape)
