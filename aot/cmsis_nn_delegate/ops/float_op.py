"""The base of operators that compute in float32 inside of the delegate, where `format: float32` asks for that.

Their results depend on the order of operations alone, which each of them states: no product is fused with a sum.
Products are added one after the other, and sums of elements as `float_math.total` says. PyTorch's results may differ in
the last bits.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional, Protocol

import numpy as np

from ..edge.nodes import first
from ..edge.program_types import EdgeContext, EdgeNode
from ..edge.refusal import Refusal
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, Layout, Quant, TensorType
from .annotation import NotAnnotated
from .layouts import Layouts
from .op import Op


class FloatOp(Op):
    """Its tensors are float32 and lie in row-major order, whatever their shape."""

    annotation = NotAnnotated("`format: float32` leaves it in float")
    elements = (Element.FLOAT32,)
    shapeless_input = True
    shapeless_output = True
    layouts = Layouts.ROW_MAJOR

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        return first(
            lambda: context.refuse_floats(self.result_of(node), *context.activations(node)),
            lambda: self.refuse_arguments(node, context),
        )

    def result_of(self, node: EdgeNode) -> EdgeNode:
        """Returns the node of the result: another one where the function returns several, of which one is read."""
        return node

    def refuse_arguments(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        """Refuses arguments that the kernel cannot take; all tensors are known to be floats of a fixed shape."""
        return None

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        with np.errstate(all="ignore"):
            return self.real_reference(node, inputs).reshape(node.output.storage_shape)

    def real_reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        """Returns the elements of the output as float32, in order. Every operation on arrays rounds once, as the same
        operation of the kernel does."""
        raise NotImplementedError(f"{self.name} has no reference")

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return {**refs, **self.fields(node)}

    def fields(self, node: Node) -> Mapping[str, Any]:
        """Returns the numbers of the argument block."""
        raise NotImplementedError(f"{self.name} has no fields")


class _Drawing(Protocol):
    """What is needed of a `Case`."""

    random: np.random.Generator

    def node(self, op: str, inputs: list[Value], attrs: Any, quant: Optional[Quant]) -> Value: ...


def reals(d: _Drawing, *shape: int, spread: float = 1.0) -> Value:
    """A constant of random numbers."""
    data = d.random.normal(0, spread, shape).astype(np.float32)
    return Value(f"c{d.random.integers(1 << 30)}", TensorType(Element.FLOAT32, shape), data)


def drawn(d: _Drawing, op: str, inputs: list[Value], attrs: Any) -> Value:
    """A node of an operator in float32."""
    output = d.node(op, inputs, attrs, None)
    output.retype(element=Element.FLOAT32, layout=Layout.ROW_MAJOR)
    return output
