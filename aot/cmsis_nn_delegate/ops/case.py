"""What an operator's `draws` are given to build a random case: a graph of one node with random shape, parameters,
weights and scales. `testing/random_case.py` implements it; only tests and benchmarks draw."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional, Protocol, TypeVar

import numpy as np

from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, Layout, Quant
from .attrs import Clamp, Padding
from .geometry import Pair

T = TypeVar("T")


class Case(Protocol):
    """A graph under construction. Methods named after an operator append a node of it and return its output."""

    random: np.random.Generator
    inputs: list[Value]
    nodes: list[Node]

    # Choices ----------------------------------------------------------------

    def integer(self, lo: int, hi: int) -> int:
        """In [lo, hi]."""

    def pair(self, lo: int, hi: int) -> Pair: ...

    def pick(self, *choices: T) -> T: ...

    def clamp(self) -> Clamp: ...

    def batch(self) -> int: ...

    def channels(self) -> int:
        """Mostly few; sometimes around the widths that kernels work in."""

    def padding(self, kernel: Pair, dilation: Pair = (1, 1)) -> Padding:
        """Any, but every window has a tap in the image."""

    # Values -----------------------------------------------------------------

    def quant(
        self, scale: Optional[float] = None, zero_point: Optional[int] = None, element: Element = Element.INT8
    ) -> Quant:
        """A per-tensor Quant; what is not given is random."""

    def input(
        self,
        *shape: int,
        element: Element = Element.INT8,
        layout: Optional[Layout] = None,
        quant: Optional[Quant] = None,
    ) -> Value:
        """A graph input; quantized images are channels-last unless `layout` says otherwise."""

    def image(
        self,
        batch: int,
        channels: int,
        kernel: Pair,
        dilation: Pair = (1, 1),
        extra: int = 6,
        element: Element = Element.INT8,
    ) -> Value:
        """An input at least as large as the kernel: then padding as above leaves no window empty."""

    def constant(
        self, shape: Sequence[int], element: Element, lo: int, hi: int, quant: Optional[Quant] = None
    ) -> Value:
        """Random integers in [lo, hi]."""

    def weights(self, x: Value, shape: tuple[int, ...], element: Element = Element.INT8) -> tuple[list[Value], Quant]:
        """([weight, bias], output quant): the accumulator's spread fills the range of the elements."""

    # Nodes ------------------------------------------------------------------

    def node(self, op: str, inputs: list[Value], attrs: Any, quant: Optional[Quant]) -> Value:
        """A node of any operator, with an output of the shape that the operator gives it and the type of its first
        input, or int8 if that is no activation."""

    def conv2d(
        self,
        x: Value,
        channels: int,
        kernel: Pair = (3, 3),
        stride: Pair = (1, 1),
        padding: Padding = Padding(),
        dilation: Pair = (1, 1),
        groups: int = 1,
        clamp: Clamp = Clamp(),
        *,
        element: Element = Element.INT8,
    ) -> Value:
        """`element` is the type of the weights, here and below."""

    def depthwise_conv2d(self, x: Value, multiplier: int = 1, **arguments: Any) -> Value: ...

    def fully_connected(
        self,
        x: Value,
        features: int,
        clamp: Clamp = Clamp(),
        per_tensor: bool = False,
        *,
        element: Element = Element.INT8,
    ) -> Value: ...

    def add(
        self, a: Value, b: Value, clamp: Clamp = Clamp(), quant: Optional[Quant] = None, **attributes: Any
    ) -> Value:
        """`attributes` are further ones of `AddAttrs`."""

    def avg_pool2d(self, x: Value, kernel: Pair, **arguments: Any) -> Value: ...

    def softmax(self, x: Value, dim: int = 1) -> Value: ...

    def quantize(self, x: Value, quant: Optional[Quant] = None, element: Element = Element.INT8) -> Value: ...

    def dequantize(self, x: Value, shape: Optional[Sequence[int]] = None) -> Value: ...

    def transpose(self, x: Value, to: Layout) -> Value: ...

    def maybe_relu(self, output: Value) -> Value:
        """Makes `output`, of the last node, that of a ReLU whose zero is the least int8, every other time."""
