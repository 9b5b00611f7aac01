"""The linear layers of `fully_connected_vectors` with weights of 4 bits, for cores with MVE."""

from __future__ import annotations

from typing import ClassVar

from ...format.element import Element
from ...graph.ir import Node, Value
from ...ops import fully_connected
from ...ops.case import Case
from ...ops.op import Draw
from ..implementation import Symbol
from . import drawing, fully_connected_as_conv2d, fully_connected_pairs, fully_connected_vectors
from .drawing import typed
from .fully_connected_vectors import HELPERS, FullyConnectedVectors

DRAWS = (fully_connected_pairs.draw, fully_connected_pairs.draw_whole_blocks, fully_connected_as_conv2d.draw)


def draw_fine_steps(d: Case, element: Element = Element.INT8) -> Value:
    """Outputs with finer steps than those of sums; `element` is the type of inputs."""
    output = fully_connected_pairs.draw(d, element, Element.INT4)
    drawing.finer_steps(d, 9)
    return output


KERNEL = fully_connected_vectors.kernel_of(Element.INT8, nibbles=True)


class FullyConnectedInt4Vectors(FullyConnectedVectors):
    """Like `FullyConnectedVectors`, with a load for the weights of two channels. A shift leaves those of the second;
    the sum of the first is that of the products with the bytes as they are, less 16 times the second and 8 times that
    of the inputs. That wraps, and so is exact for all sums. Steps of outputs may be finer than those of sums.
    """

    name = "fully_connected_int4_vectors"
    like = fully_connected.INT4
    nibbles = True
    assumes = "outputs that leave little of their blocks of 8 empty"
    draws: ClassVar[tuple[Draw, ...]] = (*typed(DRAWS, weights=Element.INT4), draw_fine_steps)
    symbol = Symbol(KERNEL, helpers=HELPERS)

    def why_inexact(self, node: Node) -> str:
        return ""
