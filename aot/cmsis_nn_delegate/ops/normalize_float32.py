"""Layer norm, group norm, instance norm and RMS norm in float32."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

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
from .float_op import FloatOp, drawn, reals
from .kernel import KernelSpec

KERNEL = KernelSpec(
    "normalize_float32",
    Struct(
        "NormalizeFloat32Args",
        "float32 normalization of each [outer, inner] of n elements: with m = total(x) / n, or 0, v = total((x - m) * "
        "(x - m)) / n and f = 1 / sqrt(v + epsilon), the output is (x - m) * f * weight + bias. The output may be the "
        f"input. {fm.TOTAL}",
        (
            blocks.input("input", F32, "rows", "outer", "inner", doc="float32 [rows, outer, inner]"),
            blocks.input("weight", F32, "groups", "outer", doc="float32 [groups, outer]"),
            blocks.input("bias", F32, "groups", "outer", doc="float32 [groups, outer]"),
            blocks.output(F32, "rows", "outer", "inner", doc="float32 [rows, outer, inner]"),
            Field("rows", I32),
            Field("groups", I32, "row i has the parameters i % groups", low=1, high=2**31 - 1),
            Field("outer", I32),
            Field("inner", I32),
            Field("centered", I32, "0: m is 0", low=0, high=1),
            Field("epsilon", F32),
        ),
    ),
)


@dataclass(frozen=True)
class NormalizeFloat32Attrs:
    """normalize_float32: the numbers of the argument block. Inputs: x, weight and bias."""

    batch: int
    groups: int
    outer: int
    inner: int
    centered: int
    epsilon: float


def _draw(d: Case) -> Value:
    groups, inner = d.pick((1, 1), (d.integer(1, 4), d.integer(1, 9)))
    sizes = d.batch(), groups, d.pick(d.integer(1, 9), d.integer(1, 70)), inner
    attrs = NormalizeFloat32Attrs(*sizes, d.pick(0, 1, 1), d.pick(1e-5, 1e-2))
    x = d.input(sizes[0], math.prod(sizes[1:]), element=Element.FLOAT32)
    return drawn(d, "normalize_float32", [x, *(reals(d, groups, sizes[2]) for _ in range(2))], attrs)


class NormalizeFloat32(FloatOp):
    """(x - mean) / sqrt(variance + epsilon) * weight + bias, over groups of elements."""

    name = "normalize_float32"
    targets = (
        "aten.layer_norm.default",
        "aten.group_norm.default",
        "aten.instance_norm.default",
        "aten.rms_norm.default",
    )
    attrs = NormalizeFloat32Attrs
    kernels = (KERNEL,)
    draws = (_draw,)
    limits = ("layer, group, instance and RMS norm; an instance norm with running statistics is a batch norm",)
    in_place = True

    def refuse_arguments(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        if target_name(node) != "aten.instance_norm.default" or context.arguments(node)[5]:
            return None
        return Refusal(Reason.UNSUPPORTED_PARAMETER, "it uses running statistics, as a batch norm; write it as one")

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        name, shape = target_name(node), shape_of(operand(node))
        given = context.arguments(node)
        bias = None
        groups: Optional[int] = None
        if name == "aten.layer_norm.default":
            _, normalized, weight, bias, epsilon, *_ = given
        elif name == "aten.rms_norm.default":
            _, normalized, weight, epsilon = given
            epsilon = float(np.finfo(np.float32).eps) if epsilon is None else epsilon  # the default of PyTorch
        elif name == "aten.group_norm.default":
            _, groups, weight, bias, epsilon, *_ = given
        else:
            weight, bias, epsilon, groups = given[1], given[2], given[7], shape[1]
        if groups is None:
            size = math.prod(normalized)
            sizes = math.prod(shape) // size, 1, size, 1
        else:
            sizes = shape[0], groups, shape[1] // groups, math.prod(shape[2:])
        parameters = sizes[1] * sizes[2]
        inputs = [
            context.value(operand(node)),
            context.real_operand(
                np.ones(parameters) if weight is None else weight, f"{node.name}_weight", (parameters,)
            ),
            context.real_operand(np.zeros(parameters) if bias is None else bias, f"{node.name}_bias", (parameters,)),
        ]
        attrs = NormalizeFloat32Attrs(*sizes, int(name != "aten.rms_norm.default"), float(epsilon))
        return [context.node(node, self.name, inputs, attrs)]

    def features(self, node: Node) -> Features:
        return Features({"groups": node.attrs.batch * node.attrs.groups, "outputs": node.output.numel})

    def real_reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        a: NormalizeFloat32Attrs = node.attrs
        size = np.float32(a.outer * a.inner)
        x = inputs[0].reshape(a.batch * a.groups, a.outer * a.inner, 1)
        away = x - (fm.total(x) / size)[:, None] if a.centered else x
        factor = fm.rsqrt(fm.total(away * away) / size + np.float32(a.epsilon))
        scaled = (away * factor[:, None]).reshape(a.batch, a.groups, a.outer, a.inner)
        weight, bias = (p.reshape(a.groups, a.outer, 1) for p in inputs[1:])
        result: np.ndarray = scaled * weight + bias
        return result

    def fields(self, node: Node) -> Mapping[str, Any]:
        a: NormalizeFloat32Attrs = node.attrs
        sizes = {"rows": a.batch * a.groups, "groups": a.groups, "outer": a.outer, "inner": a.inner}
        return {**sizes, "centered": a.centered, "epsilon": a.epsilon}
