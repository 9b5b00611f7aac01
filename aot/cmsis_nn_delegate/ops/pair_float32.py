"""Functions of two numbers for each element in float32: sums, products, quotients and the like."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ..edge.nodes import argument, first, shape_of, target_name
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format.record import F32, I32, Field, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element
from . import broadcast, elementwise
from .attrs import Shapes
from .case import Case
from .features import Features
from .float_op import FloatOp, drawn, reals
from .kernel import KernelSpec

# In the order of PairFunction in runtime/kernels/pair_float32/pair_float32_portable.cc.
FUNCTIONS: Mapping[str, Callable[[Any, Any], Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "div": lambda a, b: a / b,
    "max": lambda a, b: np.where(a > b, a, b),
    "min": lambda a, b: np.where(a < b, a, b),
    # Conditions, as 1 and 0, and what is chosen by one: -0.0 elsewhere, which changes no number that it is added to.
    "gt": lambda a, b: (a > b).astype(np.float32),
    "ge": lambda a, b: (a >= b).astype(np.float32),
    "lt": lambda a, b: (a < b).astype(np.float32),
    "le": lambda a, b: (a <= b).astype(np.float32),
    "eq": lambda a, b: (a == b).astype(np.float32),
    "ne": lambda a, b: (a != b).astype(np.float32),
    "keep": lambda a, b: np.where(a != 0, b, np.float32(-0.0)),
    "drop": lambda a, b: np.where(a == 0, b, np.float32(-0.0)),
}
_BY_TARGET = {
    "aten.add.Tensor": "add",
    "aten.add.Scalar": "add",
    "aten.sub.Tensor": "sub",
    "aten.sub.Scalar": "sub",
    "aten.rsub.Tensor": "sub",
    "aten.rsub.Scalar": "sub",
    "aten.mul.Tensor": "mul",
    "aten.mul.Scalar": "mul",
    "aten.div.Tensor": "div",
    "aten.div.Scalar": "div",
    "aten.maximum.default": "max",
    "aten.minimum.default": "min",
    **{f"cmsis_nn_delegate.{name}.default": name for name in ("gt", "ge", "lt", "le", "eq", "ne", "keep", "drop")},
}

KERNEL = KernelSpec(
    "pair_float32",
    Struct(
        "PairFloat32Args",
        "A function of two float32 numbers for each element of two tensors that may be repeated along some dimensions. "
        "The output may be an input of its size.",
        (
            *broadcast.operands(F32),
            Field(
                "function", I32, f"0 to {len(FUNCTIONS) - 1}: {', '.join(FUNCTIONS)}", low=0, high=len(FUNCTIONS) - 1
            ),
            *broadcast.DIMS,
        ),
        geometry=broadcast.GEOMETRY,
    ),
)


@dataclass(frozen=True)
class PairFloat32Attrs:
    """pair_float32. `shapes` of the operands, as `AddAttrs.shapes`."""

    function: str
    shapes: Optional[Shapes] = None


def _draw(d: Case) -> Value:
    """Of two tensors of one shape, or of a tensor and a number."""
    shape = (d.integer(1, 6), d.pick(d.integer(1, 9), d.integer(9, 90)))
    x, function = d.input(*shape, element=Element.FLOAT32), d.pick(*FUNCTIONS)
    other = d.pick((1, 1), shape, None)
    if other is None:
        return drawn(d, "pair_float32", [x, d.input(*shape, element=Element.FLOAT32)], PairFloat32Attrs(function))
    inputs = [x, reals(d, *other)]
    if d.pick(False, True):
        inputs.reverse()
    shapes = broadcast.shapes_of(inputs[0].shape, inputs[1].shape)
    return drawn(d, "pair_float32", inputs, PairFloat32Attrs(function, shapes))


def _draw_chosen(d: Case) -> Value:
    """Of numbers that a comparison gives, because random ones are hardly ever equal, or 0."""
    shape = (d.integer(1, 6), d.integer(1, 40))
    x, numbers = d.input(*shape, element=Element.FLOAT32), reals(d, *shape)
    condition = drawn(d, "pair_float32", [x, numbers], PairFloat32Attrs(d.pick("gt", "ge", "lt", "le")))
    function = d.pick("keep", "drop", "eq", "ne", "ge", "le")
    other = x if function in ("keep", "drop") else reals(d, *shape)
    if other is not x:
        other.data = (other.constant > 0).astype(np.float32)
    return drawn(d, "pair_float32", [condition, other], PairFloat32Attrs(function))


def _draw_broadcast(d: Case) -> Value:
    while True:
        rank = d.pick(2, 3, 5)
        output = [d.pick(1, d.integer(1, 5)) for _ in range(rank)]
        output[d.integer(0, rank - 1)] = d.pick(d.integer(1, 6), d.integer(7, 40))
        kept = [d.pick((1, 1), (1, 0), (0, 1)) for _ in output]
        first_shape, second_shape = (tuple(n if keep[i] else 1 for n, keep in zip(output, kept)) for i in (0, 1))
        shapes = broadcast.shapes_of(first_shape, second_shape)
        if shapes is not None and len(broadcast.loops(shapes)) <= broadcast.MAX_LOOPS:
            break
    inputs = [d.input(*shape, element=Element.FLOAT32) for shape in (first_shape, second_shape)]
    return drawn(d, "pair_float32", inputs, PairFloat32Attrs(d.pick(*FUNCTIONS), shapes))


class PairFloat32(FloatOp):
    """f(a, b) for two tensors, or a tensor and a number."""

    name = "pair_float32"
    targets = tuple(_BY_TARGET)
    attrs = PairFloat32Attrs
    kernels = (KERNEL,)
    draws = (_draw, _draw_broadcast, _draw_chosen)
    limits = (
        "two tensors, or a tensor and a number; alpha only 1",
        "comparisons, and where and masked_fill by conditions that are constant or computed of floats, which become "
        "calls of these",
        *broadcast.LIMITS,
    )
    in_place = True

    def refuse_arguments(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        a, b, *alpha = context.arguments(node)
        return first(
            lambda: _refuse_alpha(alpha),
            lambda: elementwise.refuse_broadcast(*(() if context.is_number(x) else shape_of(x) for x in (a, b))),
        )

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        order = (1, 0) if "rsub" in target_name(node) else (0, 1)
        rank, nodes, values = len(shape_of(node)), [], []
        for index in order:
            x = argument(node, index)
            shape = broadcast.aligned(() if context.is_number(x) else shape_of(x), rank)
            value = context.real_operand(x, f"{node.name}_operand{index}", shape)
            if value.shape != shape:
                nodes.append(context.node(node, "reshape", [value], None, shape, f"_operand{index}"))
                value = nodes[-1].output
            values.append(value)
        attrs = PairFloat32Attrs(_BY_TARGET[target_name(node)], broadcast.shapes_of(values[0].shape, values[1].shape))
        return [*nodes, context.node(node, self.name, values, attrs)]

    def output_shape(self, inputs: Sequence[Value], attrs: Any) -> tuple[int, ...]:
        return broadcast.output_shape([value.shape for value in inputs])

    def carried(self, node: Node) -> Collection[int]:
        return range(len(node.output.shape))

    def features(self, node: Node) -> Features:
        count = node.output.numel
        shapes = node.attrs.shapes or ((count,), (count,))
        divisions = {"divisions": count} if node.attrs.function == "div" else {}
        return Features({**broadcast.counts(shapes, F32.size), **divisions})

    def real_reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        result: np.ndarray = FUNCTIONS[node.attrs.function](*broadcast.in_memory(node, inputs))
        return result

    def fields(self, node: Node) -> Mapping[str, Any]:
        return {"function": list(FUNCTIONS).index(node.attrs.function), **broadcast.dims(node)}


def _refuse_alpha(alpha: Sequence[Any]) -> Optional[Refusal]:
    if list(alpha) in ([], [1]):
        return None
    return Refusal(Reason.UNSUPPORTED_PARAMETER, f"alpha is {alpha[0]}: multiply the operand before it is added")
