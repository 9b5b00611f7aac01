"""Linear layers and products of matrices in float32."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, Optional

import numpy as np

from ..edge.nodes import argument, shape_of, target_name
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format import blocks
from ..format.record import F32, I32, Field, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element
from .case import Case
from .features import Features
from .float_op import FloatOp, drawn, reals
from .kernel import KernelSpec

_MOST = 2**31 - 1

KERNEL = KernelSpec(
    "linear_float32",
    Struct(
        "LinearFloat32Args",
        "float32 products of the rows of two batches of matrices: output[n][i][j] = bias[j] + input[n][i][0] * "
        "w[j][0] + input[n][i][1] * w[j][1] + ..., added in this order, each operation rounded. w is "
        "weight[n % weights], or that transposed.",
        (
            blocks.input("input", F32, "batch", "rows", "depth", doc="float32 [batch, rows, depth]"),
            blocks.input(
                "weight",
                F32,
                "weights",
                "columns",
                "depth",
                doc="float32 [weights, columns, depth], or [weights, depth, columns]",
            ),
            blocks.input("bias", F32, "columns", doc="float32 [columns]"),
            blocks.output(F32, "batch", "rows", "columns", doc="float32 [batch, rows, columns]"),
            Field("batch", I32),
            Field("rows", I32),
            Field("columns", I32),
            Field("depth", I32),
            Field("weights", I32, low=1, high=_MOST),
            Field("transposed", I32, "1: the columns are the last dimension of the weight", low=0, high=1),
        ),
    ),
)


@dataclass(frozen=True)
class LinearFloat32Attrs:
    """linear_float32: the fields of the argument block. Inputs: x, weight and bias."""

    batch: int
    rows: int
    columns: int
    depth: int
    weights: int
    transposed: int


def _draw(d: Case) -> Value:
    """A layer with constant weights."""
    rows, columns, depth = d.batch(), d.integer(1, 20), d.pick(d.integer(1, 9), d.integer(1, 130))
    x = d.input(rows, depth, element=Element.FLOAT32)
    attrs = LinearFloat32Attrs(1, rows, columns, depth, 1, 0)
    return drawn(d, "linear_float32", [x, reals(d, columns, depth), reals(d, columns)], attrs)


def _draw_batches(d: Case) -> Value:
    """Of two activations; the second one is sometimes one matrix for all."""
    batch, rows, columns, depth = d.batch(), d.integer(1, 5), d.integer(1, 7), d.integer(1, 20)
    attrs = LinearFloat32Attrs(batch, rows, columns, depth, d.pick(batch, 1), d.pick(0, 1))
    a = d.input(batch, rows, depth, element=Element.FLOAT32)
    b = d.input(attrs.weights, *((depth, columns) if attrs.transposed else (columns, depth)), element=Element.FLOAT32)
    return drawn(d, "linear_float32", [a, b, reals(d, columns)], attrs)


class LinearFloat32(FloatOp):
    """x @ w^T + bias, summed from the bias on in the order of the inputs."""

    name = "linear_float32"
    targets = ("aten.linear.default", "aten.addmm.default", "aten.mm.default", "aten.bmm.default")
    attrs = LinearFloat32Attrs
    kernels = (KERNEL,)
    draws = (_draw, _draw_batches)
    limits = ("any weights, also activations; a bias of one number for each output",)

    def refuse_arguments(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        if target_name(node) != "aten.addmm.default":
            return None
        bias, _, weight, beta, alpha = context.arguments(node)
        if (beta, alpha) == (1, 1) and shape_of(bias) == shape_of(weight)[1:]:
            return None
        return Refusal(
            Reason.UNSUPPORTED_PARAMETER,
            "alpha and beta other than 1, and biases of more than one row, are not supported: multiply and add them in "
            "functions of their own",
        )

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        name = target_name(node)
        x, weight, bias = argument(node, 0), argument(node, 1), None
        if name == "aten.addmm.default":
            bias, x, weight = x, weight, argument(node, 2)
        elif name == "aten.linear.default":
            bias = context.arguments(node)[2]
        transposed = name != "aten.linear.default"
        shape, size = shape_of(weight), shape_of(x)
        columns, depth = shape[-2:][::-1] if transposed else shape[-2:]
        batch = size[0] if name == "aten.bmm.default" else 1
        rows = int(np.prod(size[:-1], dtype=np.int64)) // batch
        inputs = [
            context.real_operand(x, f"{node.name}_input"),
            context.real_operand(weight, f"{node.name}_weight"),
            context.real_operand(np.zeros(columns) if bias is None else bias, f"{node.name}_bias"),
        ]
        attrs = LinearFloat32Attrs(batch, rows, columns, depth, batch, int(transposed))
        return [context.node(node, self.name, inputs, attrs)]

    def output_shape(self, inputs: Sequence[Value], attrs: Any) -> tuple[int, ...]:
        return attrs.batch, attrs.rows, attrs.columns

    def macs(self, node: Node) -> int:
        return node.output.numel * int(node.attrs.depth)

    def features(self, node: Node) -> Features:
        return Features({"outputs": node.output.numel, "products": self.macs(node)})

    def real_reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        a: LinearFloat32Attrs = node.attrs
        x = inputs[0].reshape(a.batch, a.rows, 1, a.depth)
        if a.transposed:
            weight = inputs[1].reshape(a.weights, 1, a.depth, a.columns).transpose(0, 1, 3, 2)
        else:
            weight = inputs[1].reshape(a.weights, 1, a.columns, a.depth)
        weight = np.resize(weight, (a.batch, *weight.shape[1:]))
        total = np.broadcast_to(inputs[2].reshape(-1), (a.batch, a.rows, a.columns))
        for k in range(a.depth):
            total = total + x[..., k] * weight[..., k]
        return total

    def fields(self, node: Node) -> Mapping[str, Any]:
        return asdict(node.attrs)
