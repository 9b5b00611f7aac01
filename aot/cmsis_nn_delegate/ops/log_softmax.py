"""Logarithm of softmax along one dimension."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Optional

import numpy as np

from ..edge.nodes import first, operand
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format import blocks
from ..format.element import KERNEL_ELEMENTS
from ..format.record import I8, I16, I32, Field, Role, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, Quant, TensorType
from . import powers, rows, softmax, softmax_int16
from .annotation import FixedOutput
from .attrs import SoftmaxAttrs
from .case import Case
from .features import Features
from .kernel import KernelSpec
from .logarithms import LOG_BITS, log2

# TFLite's: results are in [-16, 0], and exp(-16) is less than any probability that softmax can show in 8 bits.
OUTPUT = Quant((1 / 16,), Element.INT8.high)
_OUTPUT_INT16 = Quant((255 / 16 * 2.0**-15,), 0)

DIFFERENCES = 256  # of int8 numbers to the largest of their row
EXP_BITS = 30  # exponentials are in Q30

KERNEL = KernelSpec(
    "log_softmax",
    Struct(
        "LogSoftmaxArgs",
        "int8 logarithm of softmax along rows.",
        (
            blocks.input("input", I8, "rows", "row_size", doc="int8 [rows, row_size]"),
            blocks.operand(
                Role.FILTER, "exponentials", I32, ("differences",), "int32 [256]: exp(-d * input scale) in Q30"
            ),
            blocks.output(I8, "rows", "row_size", doc="int8 [rows, row_size]"),
            Field("rows", I32),
            Field("row_size", I32),
            Field("differences", I32, low=DIFFERENCES, high=DIFFERENCES),
            blocks.multiplier("step", "Q20 of input scale / output scale"),
            blocks.multiplier("log2_step", "Q20 of ln(2) / output scale"),
            blocks.output_offset(),
        ),
    ),
)

INT16 = KernelSpec(
    "log_softmax_int16",
    Struct(
        "LogSoftmaxInt16Args",
        "int16 logarithm of softmax along rows; zero points are 0.",
        (
            blocks.input("input", I16, "rows", "row_size", doc="int16 [rows, row_size]"),
            blocks.output(I16, "rows", "row_size", doc="int16 [rows, row_size]"),
            Field("rows", I32),
            Field("row_size", I32),
            *softmax_int16.SCALING_FIELDS,
            blocks.multiplier("step", "Q20 of input scale / output scale"),
            blocks.multiplier("log2_step", "Q20 of ln(2) / output scale"),
        ),
        values=softmax_int16.VALUES,
    ),
    priced_as="log_softmax",
)


def _draw(d: Case) -> Value:
    scale = float(2.0 ** d.random.uniform(-10, 6))
    columns = d.pick(d.integer(1, 20), d.integer(1, 20), d.integer(20, 1200))
    x = d.input(d.integer(1, 6), columns, quant=d.quant(scale))
    output = d.pick(OUTPUT, d.quant())
    return d.node("log_softmax", [x, exponentials(f"c{len(d.nodes)}", scale)], SoftmaxAttrs(1), output)


def _draw_int16(d: Case) -> Value:
    scale = float(2.0 ** d.random.uniform(-20, 4))
    columns = d.pick(1, d.integer(1, 20), d.integer(20, 1200))
    x = d.input(d.integer(1, 6), columns, element=Element.INT16, quant=Quant((scale,), 0))
    coarse = Quant((float(2.0 ** d.random.uniform(-10, 0)),), 0)
    return d.node("log_softmax", [x], SoftmaxAttrs(1), d.pick(_OUTPUT_INT16, coarse))


def exponentials(name: str, scale: float) -> Value:
    """Returns the constant operand: the exponentials of all differences to the maximum."""
    exps = np.exp(-np.arange(DIFFERENCES) * scale) * 2.0**EXP_BITS
    return Value(name, TensorType(Element.INT32, (DIFFERENCES,)), np.rint(exps).astype(np.int32))


class LogSoftmax(rows.RowsOp):
    """x - max - ln(sum(exp(x - max))), with integers of our own.

    The sum of exact exponentials in Q30 has a binary logarithm of 20 bits after the point (`logarithms`), as numbers in
    steps of the output have. The result differs from that of real numbers, rounded, by at most one step, and only where
    that lies within 2^-13 of the middle between two steps.

    Of int16, exponentials are those of softmax (`softmax_int16`), and the logarithm is rounded to 20 bits after the
    point of a step before the difference to the maximum is added.
    """

    name = "log_softmax"
    targets = ("aten._log_softmax.default", "aten.log_softmax.int")
    annotation = FixedOutput(("aten.log_softmax.int", "aten._log_softmax.default"), OUTPUT.scale[0], OUTPUT.zero_point)
    kernels = (KERNEL, INT16)
    draws = (_draw, _draw_int16)
    elements = KERNEL_ELEMENTS
    limits = ("along any dimension; without a transpose along the last, and dimension 1 of images",)

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        source = operand(node)
        return first(
            lambda: context.refuse_tensors(node, source),
            lambda: rows.refuse_dim(node),
            lambda: context.refuse_quant(node, [source]),
            lambda: self._refuse_scale(node, context),
        )

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        source = context.value(operand(node))
        if source.element is Element.INT16:
            return [context.node(node, self.name, [source], SoftmaxAttrs(rows.dim_of(node)))]
        table = exponentials(f"{node.name}_exponentials", context.input_scale(operand(node)))
        return [context.node(node, self.name, [source, table], SoftmaxAttrs(rows.dim_of(node)))]

    def _refuse_scale(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        scale = context.output_scale(node)
        if math.log(2) / scale < 2 ** (31 - LOG_BITS):
            return None
        return Refusal(
            Reason.UNSUPPORTED_QUANTIZATION,
            f"output scale {scale:g} is too small for the kernel; {context.requantize}, which uses "
            "1/16, or 1/2056 in int16",
        )

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        _, row_size = rows.rows_of(node)
        step, log2_step = self._steps(node)
        data = inputs[0].reshape(-1, row_size).astype(np.int64)
        distance = data.max(axis=1, keepdims=True) - data
        if softmax.is_wide(node):
            scaling = softmax_int16.scaling(node.inputs[0].scale)
            total = softmax_int16.exponentials(data, scaling, np.zeros(1, np.bool_)).sum(axis=1, keepdims=True)
            half = 1 << (LOG_BITS - 1)
            logarithm = (log2(total, powers.LONG_BITS) * log2_step + half) >> LOG_BITS
            steps = -((distance * step + logarithm + half) >> LOG_BITS)
            return node.output.type.clamp(steps).astype(np.int16).reshape(node.output.storage_shape)
        total = node.inputs[1].constant.astype(np.int64)[distance].sum(axis=1, keepdims=True)
        below = (distance * step << LOG_BITS) + log2(total, EXP_BITS) * log2_step
        result = node.output.zero_point - ((below + (1 << (2 * LOG_BITS - 1))) >> (2 * LOG_BITS))
        return node.output.type.clamp(result).astype(np.int8).reshape(node.output.storage_shape)

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        return {} if softmax.is_wide(node) else {"exponentials": node.inputs[1].constant}

    def features(self, node: Node) -> Features:
        row_count, row_size = rows.rows_of(node)
        return Features(
            {
                "rows": row_count,
                "outputs": row_count * row_size,
                "sixteens": row_count * (row_size // 16),
                "last sixteens": row_count * min(row_size % 16, 1),
                "fours": row_count * (row_size // 4),
                "last fours": row_count * min(row_size % 4, 1),
                "elements of last fours": row_count * (row_size % 4),
            }
        )

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        count, row_size = rows.rows_of(node)
        step, log2_step = self._steps(node)
        fields = {**refs, "rows": count, "row_size": row_size, "step": step, "log2_step": log2_step}
        if softmax.is_wide(node):
            return {**fields, **softmax.fields_of(node)}
        return {**fields, "differences": DIFFERENCES, "output_offset": node.output.zero_point}

    def _steps(self, node: Node) -> tuple[int, int]:
        """Returns the input's scale, and ln(2), in steps of the output, Q20."""
        scale = node.output.scale
        # A larger step of the input exceeds the range of the output all the same.
        step = min(round(node.inputs[0].scale / scale * 2**LOG_BITS), 2**31 - 1)
        log2_step = round(math.log(2) / scale * 2**LOG_BITS)
        if log2_step >= 2**31:
            raise ValueError(f"{node.name}: the output scale {scale} is too small for the kernel")
        return step, log2_step
