"""A graph of one node with random shape, parameters, weights and scales: the `Case` that an operator's `draws` fill."""

from __future__ import annotations

from dataclasses import replace
from typing import TypeVar

from ..graph.ir import Value
from ..graph.tensor_type import Element
from ..ops.attrs import Clamp, Padding
from ..ops.geometry import Pair
from .graph_builder import GraphBuilder

T = TypeVar("T")


class RandomCase(GraphBuilder):
    """A graph of one node under construction; all choices follow from the seed."""

    def integer(self, lo: int, hi: int) -> int:
        """In [lo, hi]."""
        return int(self.random.integers(lo, hi, endpoint=True))

    def pair(self, lo: int, hi: int) -> Pair:
        return self.integer(lo, hi), self.integer(lo, hi)

    def pick(self, *choices: T) -> T:
        return choices[self.integer(0, len(choices) - 1)]

    def clamp(self) -> Clamp:
        return self.pick(Clamp(), Clamp(), Clamp(0.0), Clamp(0.0, 6.0), Clamp(-1.0, 1.0))

    def maybe_relu(self, output: Value) -> Value:
        """Makes `output`, of the last node, that of a ReLU whose zero is the least number, or int16's only zero point,
        every other time."""
        if self.pick(False, True):
            node = self.nodes[-1]
            node.attrs = replace(node.attrs, clamp=Clamp(0.0))
            output.retype(quant=self.quant(output.scale, output.element.zero_points[0]))
        return output

    def batch(self) -> int:
        return self.pick(1, 1, 2, 3, 4)

    def channels(self) -> int:
        """Mostly few; sometimes around the widths that kernels work in."""
        return self.pick(self.integer(1, 9), self.integer(1, 9), 4 * self.integer(1, 8), self.integer(10, 40))

    def padding(self, kernel: Pair, dilation: Pair = (1, 1)) -> Padding:
        """Any, but every window has a tap in the image."""
        rows, columns = ((k - 1) * d for k, d in zip(kernel, dilation))
        return Padding(self.integer(0, rows), self.integer(0, columns), self.integer(0, rows), self.integer(0, columns))

    def image(
        self,
        batch: int,
        channels: int,
        kernel: Pair,
        dilation: Pair = (1, 1),
        extra: int = 6,
        element: Element = Element.INT8,
    ) -> Value:
        """At least as large as the kernel: then padding as above leaves no window empty."""
        size = [(k - 1) * d + 1 + self.integer(0, extra) for k, d in zip(kernel, dilation)]
        return self.input(batch, channels, *size, element=element)
