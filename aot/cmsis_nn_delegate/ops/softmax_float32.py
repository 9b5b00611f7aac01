"""softmax and its logarithm in float32."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from ..edge.nodes import argument, operand, shape_of, target_name
from ..edge.program_types import EdgeNode, ImportContext
from ..format import blocks
from ..format.record import F32, I32, Field, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element
from . import float_math as fm
from .case import Case
from .features import Features
from .float_op import FloatOp, drawn
from .kernel import KernelSpec
from .reduce_float32 import extremum_in_order

KERNEL = KernelSpec(
    "softmax_float32",
    Struct(
        "SoftmaxFloat32Args",
        "float32 softmax along the middle dimension: e[i] = exp(x[i] - max), output[i] = e[i] / total(e), or its "
        f"logarithm, output[i] = (x[i] - max) - log(total(e)). The output may be the input. {fm.TOTAL}",
        (
            blocks.input("input", F32, "outer", "size", "inner", doc="float32 [outer, size, inner]"),
            blocks.output(F32, "outer", "size", "inner", doc="float32 [outer, size, inner]"),
            Field("outer", I32),
            Field("size", I32),
            Field("inner", I32),
            Field("logarithm", I32, low=0, high=1),
        ),
    ),
)


@dataclass(frozen=True)
class SoftmaxFloat32Attrs:
    """softmax_float32: the fields of the argument block."""

    outer: int
    size: int
    inner: int
    logarithm: int


def _draw(d: Case) -> Value:
    shape = d.batch(), d.pick(d.integer(1, 9), d.integer(1, 70)), d.pick(1, 1, d.integer(2, 5))
    attrs = SoftmaxFloat32Attrs(*shape, d.pick(0, 1))
    return drawn(d, "softmax_float32", [d.input(*shape, element=Element.FLOAT32)], attrs)


class SoftmaxFloat32(FloatOp):
    """exp(x - max) / sum(exp(x - max))."""

    name = "softmax_float32"
    targets = ("aten._softmax.default", "aten.softmax.int", "aten._log_softmax.default", "aten.log_softmax.int")
    attrs = SoftmaxFloat32Attrs
    kernels = (KERNEL,)
    draws = (_draw,)
    limits = ("along any dimension",)
    in_place = True

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        shape = shape_of(node)
        dim = argument(node, 1) % max(len(shape), 1)
        sizes = math.prod(shape[:dim]), math.prod(shape[dim : dim + 1]), math.prod(shape[dim + 1 :])
        attrs = SoftmaxFloat32Attrs(*sizes, int("log" in target_name(node)))
        return [context.node(node, self.name, [context.value(operand(node))], attrs)]

    def features(self, node: Node) -> Features:
        a: SoftmaxFloat32Attrs = node.attrs
        logarithm = "logarithm" if a.logarithm else ""
        return Features({"rows": a.outer * a.inner, "outputs": node.output.numel}, logarithm)

    def real_reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        a: SoftmaxFloat32Attrs = node.attrs
        x = inputs[0].reshape(a.outer, a.size, a.inner)
        below = x - extremum_in_order(x)[:, None]
        powers = fm.exp(below)
        total = fm.total(powers)
        result: np.ndarray = below - fm.log(total)[:, None] if a.logarithm else powers / total[:, None]
        return result

    def fields(self, node: Node) -> Mapping[str, Any]:
        return asdict(node.attrs)
