"""Sums, means, variances and extrema along one dimension in float32."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Optional

import numpy as np

from ..edge.nodes import operand, shape_of, target_name
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format import blocks
from ..format.record import F32, I32, Field, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element
from . import float_math as fm
from .case import Case
from .features import Features
from .float_op import FloatOp, drawn
from .kernel import KernelSpec

# In the order of Reduction in runtime/kernels/reduce_float32/reduce_float32_portable.cc.
FUNCTIONS = ("sum", "variance", "max", "min")

KERNEL = KernelSpec(
    "reduce_float32",
    Struct(
        "ReduceFloat32Args",
        "float32 reduction of the middle dimension. sum: total(x) / divisor; variance: with the mean m = total(x) / "
        f"size, total((x - m) * (x - m)) / divisor. {fm.TOTAL}",
        (
            blocks.input("input", F32, "outer", "size", "inner", doc="float32 [outer, size, inner]"),
            blocks.output(F32, "outer", "inner", doc="float32 [outer, inner]"),
            Field("outer", I32),
            Field("size", I32),
            Field("inner", I32),
            Field(
                "function", I32, f"0 to {len(FUNCTIONS) - 1}: {', '.join(FUNCTIONS)}", low=0, high=len(FUNCTIONS) - 1
            ),
            Field("divisor", F32),
        ),
    ),
)

_BY_TARGET = {
    "aten.sum.dim_IntList": "sum",
    "aten.sum.default": "sum",
    "aten.mean.dim": "sum",
    "aten.mean.default": "sum",
    "aten.var.correction": "variance",
    "aten.amax.default": "max",
    "aten.amin.default": "min",
}
_ADAPTIVE = ("aten.adaptive_avg_pool2d.default", "aten._adaptive_avg_pool2d.default")


@dataclass(frozen=True)
class ReduceFloat32Attrs:
    """reduce_float32: the sizes of the argument block, its function and its divisor."""

    outer: int
    size: int
    inner: int
    function: str
    divisor: float = 1.0


class _Reduced(NamedTuple):
    """The sizes of a reduction, outer, reduced and inner."""

    outer: int
    size: int
    inner: int


def _draw(d: Case) -> Value:
    sizes = d.batch(), d.pick(d.integer(1, 9), d.integer(1, 90), d.integer(90, 300)), d.pick(1, d.integer(1, 9))
    attrs = ReduceFloat32Attrs(*sizes, d.pick(*FUNCTIONS), d.pick(1.0, float(sizes[1])))
    return drawn(d, "reduce_float32", [d.input(*sizes, element=Element.FLOAT32)], attrs)


class ReduceFloat32(FloatOp):
    """One number for all elements along dimensions next to each other, added as `float_math.total` says."""

    name = "reduce_float32"
    targets = (*_BY_TARGET, *_ADAPTIVE)
    attrs = ReduceFloat32Attrs
    kernels = (KERNEL,)
    draws = (_draw,)
    limits = ("dimensions next to each other, or all; adaptive average pools only to one pixel",)

    def claims(self, node: EdgeNode, context: EdgeContext) -> bool:
        return target_name(node) not in _ADAPTIVE or set(shape_of(node)[-2:]) == {1}

    def refuse_arguments(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        if _reduced(node, context) is not None:
            return None
        return Refusal(
            Reason.UNSUPPORTED_PARAMETER,
            "it reduces dimensions that do not lie next to each other; reduce them in two steps",
        )

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        sizes = _reduced(node, context)
        if sizes is None:
            raise ValueError(f"{node.name} reduces dimensions that do not lie next to each other")
        name = target_name(node)
        divisor = 1.0
        if "mean" in name or name in _ADAPTIVE:
            divisor = float(sizes.size)
        if name == "aten.var.correction":
            correction = context.arguments(node)[2]
            divisor = float(max(sizes.size - (1 if correction is None else correction), 0))
        attrs = ReduceFloat32Attrs(*sizes, _BY_TARGET.get(name, "sum"), divisor)
        return [context.node(node, self.name, [context.value(operand(node))], attrs)]

    def output_shape(self, inputs: Sequence[Value], attrs: Any) -> tuple[int, ...]:
        return attrs.outer, attrs.inner

    def features(self, node: Node) -> Features:
        a: ReduceFloat32Attrs = node.attrs
        path = a.function if a.function in ("sum", "variance") else "extremum"
        return Features({"outputs": a.outer * a.inner, "inputs": a.outer * a.size * a.inner}, path)

    def real_reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        a: ReduceFloat32Attrs = node.attrs
        x = inputs[0].reshape(a.outer, a.size, a.inner)
        if a.function in ("max", "min"):
            return extremum_in_order(x, a.function == "max")
        if a.function == "variance":
            away = x - (fm.total(x) / np.float32(a.size))[:, None]
            x = away * away
        quotient: np.ndarray = fm.total(x) / np.float32(a.divisor)
        return quotient

    def fields(self, node: Node) -> Mapping[str, Any]:
        a: ReduceFloat32Attrs = node.attrs
        return {
            "outer": a.outer,
            "size": a.size,
            "inner": a.inner,
            "function": FUNCTIONS.index(a.function),
            "divisor": a.divisor,
        }


def extremum_in_order(x: np.ndarray, largest: bool = True) -> np.ndarray:
    """Returns the first of the largest or least numbers along dimension 1, of rank 3: of 0 and -0, the first."""
    found: np.ndarray = x[:, 0]
    for i in range(1, x.shape[1]):
        found = np.where(x[:, i] > found if largest else x[:, i] < found, x[:, i], found)
    return found


def _reduced(node: EdgeNode, context: EdgeContext) -> Optional[_Reduced]:
    """Returns the sizes of a reduction; None if its dimensions do not lie next to each other."""
    shape = shape_of(operand(node))
    if target_name(node) in _ADAPTIVE:
        dims: Any = [-2, -1]
    else:
        given = context.arguments(node)[1:2]
        dims = given[0] if given and isinstance(given[0], (list, tuple, int)) else None
    dims = [dims] if isinstance(dims, int) else dims
    # Of sizes other than 1, which need not lie next to each other.
    every = range(len(shape))
    reduced = {dim % max(len(shape), 1) for dim in dims} if dims else set(every)
    inside = [dim for dim in every if shape[dim] > 1]
    found = [dim for dim in inside if dim in reduced]
    if not found:
        return _Reduced(math.prod(shape), 1, 1)
    first, last = found[0], found[-1]
    if any(dim not in reduced for dim in inside if first <= dim <= last):
        return None
    return _Reduced(math.prod(shape[:first]), math.prod(shape[first : last + 1]), math.prod(shape[last + 1 :]))
