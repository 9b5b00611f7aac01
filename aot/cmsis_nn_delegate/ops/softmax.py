"""int8 softmax along one dimension."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Optional

import numpy as np

from ..edge.nodes import argument, first, operand, shape_of
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format import blocks
from ..format.record import I8, I32, Field, Struct
from ..format.schema import MAX_SHIFT, MAX_SOFTMAX_DIFFERENCE
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, Layout, Quant
from . import storage
from .annotation import FixedOutput
from .attrs import SoftmaxAttrs
from .kernel import KernelSpec
from .layouts import Layouts
from .op import Op
from .providers.cmsis_nn_rules import MAX_SOFTMAX_ROW, softmax_fits
from .quantized_math import (
    divide_by_power_of_two,
    exp_on_negative_values,
    high_mult,
    leading_zeros,
    one_over_one_plus_x,
    quantize_multiplier,
    wrap32,
)
from .random_case import RandomCase

INTEGER_BITS = 5  # of the scaled differences to the maximum, Q5.26
ACCUMULATOR_BITS = 12  # integer bits of the sum of exponentials
OUTPUT = Quant((1 / 256,), Element.INT8.low)


class Scaling(NamedTuple):
    """How a difference of int8 numbers becomes Q5.26."""

    multiplier: int
    shift: int
    diff_min: int  # smaller differences contribute nothing


KERNEL = KernelSpec(
    "softmax",
    Struct(
        "SoftmaxArgs",
        "int8 softmax along rows; the output has scale 1/256 and zero point -128.",
        (
            blocks.input("input", I8, "rows", "row_size", doc="int8 [rows, row_size]"),
            blocks.output(I8, "rows", "row_size", doc="int8 [rows, row_size]"),
            Field("rows", I32),
            Field("row_size", I32),
            blocks.multiplier("multiplier", "Q31 of the input scale"),
            blocks.shift("shift", low=0),
            Field(
                "diff_min",
                I32,
                "smaller differences to the maximum contribute nothing; [-(kMaxSoftmaxDifference >> shift), 0]",
            ),
        ),
        values="softmax",
    ),
    cmsis_nn="arm_softmax_s8",
    cmsis_nn_sources=(
        "SoftmaxFunctions/arm_nn_softmax_common_s8.c",
        "SoftmaxFunctions/arm_softmax_s8.c",
    ),
)


def _draw(d: RandomCase) -> Value:
    scale = float(2.0 ** d.random.uniform(-8, 3))
    columns = d.pick(d.integer(1, 20), d.integer(1, 20), d.integer(20, 511))
    return d.softmax(d.input(d.integer(1, 6), columns, quant=d.quant(scale)))


class Softmax(Op):
    """exp(x - max) / sum(exp(x - max)) in fixed point; output scale 1/256, zero point -128.

    CMSIS-NN: arm_softmax_s8 [TFLite PreprocessSoftmaxScaling, CalculateInputRadius].
    """

    name = "softmax"
    targets = ("aten._softmax.default", "aten.softmax.int")
    annotation = FixedOutput(("aten.softmax.int", "aten._softmax.default"), OUTPUT.scale[0], OUTPUT.zero_point)
    attrs = SoftmaxAttrs
    kernels = (KERNEL,)
    draws = (_draw,)
    limits = (
        "along the last dimension, or dimension 1 of images",
        f"at most {MAX_SOFTMAX_ROW} elements along it",
    )

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        source = operand(node)
        return first(
            lambda: context.refuse_tensors(node, source),
            lambda: self._refuse_dim(node),
            lambda: context.refuse_quant(node, [source]),
            lambda: self._refuse_scales(node, context),
        )

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        attrs = SoftmaxAttrs(self._dim(node))
        return [context.node(node, self.name, [context.value(operand(node))], attrs)]

    def _dim(self, node: EdgeNode) -> int:
        dim: int = argument(node, 1) % max(len(shape_of(node)), 1)
        return dim

    def _refuse_dim(self, node: EdgeNode) -> Optional[Refusal]:
        shape = shape_of(node)
        if not shape:
            return Refusal(Reason.UNSUPPORTED_SHAPE, "its input has no dimension")
        dim = self._dim(node)
        if not any(_is_innermost(shape, dim, channels_last) for channels_last in {False, len(shape) == 4}):
            return Refusal(
                Reason.UNSUPPORTED_PARAMETER,
                f"softmax along dimension {dim} of {list(shape)}; the kernel wants the one that is "
                f"innermost in memory, the last{' or, of an image, 1' if len(shape) == 4 else ''}",
            )
        if not softmax_fits(shape[dim]):
            return Refusal(
                Reason.TOO_LARGE,
                f"{shape[dim]} elements along dimension {dim}; the kernel sums at most {MAX_SOFTMAX_ROW}",
            )
        return None

    def _refuse_scales(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        output = context.output_quant(node)
        if output is not None and output != OUTPUT:
            return Refusal(
                Reason.UNSUPPORTED_QUANTIZATION,
                f"output scale {output.scale[0]:g} and zero point {output.zero_point}; the kernel's"
                " are 1/256 and -128: quantize with CmsisNnQuantizer",
            )
        scale = context.input_scale(operand(node))
        if scale * (1 << (31 - INTEGER_BITS)) <= 1:
            return Refusal(
                Reason.UNSUPPORTED_QUANTIZATION,
                f"input scale {scale:g} is too small for the kernel; calibrate with representative data",
            )
        return None

    def layouts_of(self, node: Node) -> Layouts:
        shape, dim = node.inputs[0].shape, node.attrs.dim
        fitting = [channels_last for channels_last in (False, True) if _is_innermost(shape, dim, channels_last)]
        if len(fitting) == 2:
            return Layouts.SAME
        return Layouts.CHANNELS_LAST if fitting == [True] else Layouts.ROW_MAJOR

    def read_reshaped(self, node: Node, reshape: Node) -> bool:
        source, output = reshape.inputs[0], reshape.output
        dim = None if storage.moves(source, output) else _innermost(source, output.shape[node.attrs.dim])
        if dim is None:
            return False
        node.attrs = SoftmaxAttrs(dim)
        return True

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        _, row_size = self._rows(node)
        scaling = self._scaling(node)
        rows = inputs[0].reshape(-1, row_size).astype(np.int64)
        # Differences are in [-255, 0]: one exponential for each.
        steps = np.arange(256, dtype=np.int64)
        exps = exp_on_negative_values(high_mult(wrap32(-steps << scaling.shift), scaling.multiplier))
        distance = rows.max(axis=1, keepdims=True) - rows
        counts = -distance >= scaling.diff_min
        terms = np.where(counts, divide_by_power_of_two(exps, ACCUMULATOR_BITS)[distance], 0)
        total = terms.sum(axis=1, keepdims=True)
        headroom = leading_zeros(total)
        inverse = one_over_one_plus_x(wrap32((total << headroom) - (1 << 31)))
        bits = ACCUMULATOR_BITS - headroom + 23
        result = divide_by_power_of_two(high_mult(inverse, exps[distance]), bits) + node.output.zero_point
        result = np.where(counts, node.output.type.clamp(result), node.output.element.low)
        return result.astype(np.int8).reshape(node.output.storage_shape)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        rows, row_size = self._rows(node)
        return {**refs, "rows": rows, "row_size": row_size, **self._scaling(node)._asdict()}

    def _rows(self, node: Node) -> tuple[int, int]:
        """(rows, row size); ValueError if the dimension is not the innermost in memory."""
        value = node.inputs[0]
        dim = node.attrs.dim
        row_size = value.shape[dim]
        channels_last = storage.effective_layout(value) is Layout.CHANNELS_LAST
        if not _is_innermost(value.shape, dim, channels_last):
            raise ValueError(f"{node.name}: dimension {dim} of {value.shape} is not innermost in memory")
        if not softmax_fits(row_size):
            raise ValueError(f"{node.name}: {row_size} elements a row; the kernel is exact up to {MAX_SOFTMAX_ROW}")
        return storage.rows_of(value, row_size), row_size

    def _scaling(self, node: Node) -> Scaling:
        scale = node.inputs[0].scale
        fraction_bits = 31 - INTEGER_BITS
        real = scale * (1 << fraction_bits)
        if real <= 1:
            raise ValueError(f"{node.name}: input scale {scale} is too small for the kernel")
        if round(real) >= 1 << MAX_SHIFT:
            # Steps of 16 and more: exp(-step) is 0 in the output, only the maximum counts.
            return Scaling(1 << 30, MAX_SHIFT, 0)
        multiplier, shift = quantize_multiplier(real)
        return Scaling(multiplier, shift, -(MAX_SOFTMAX_DIFFERENCE >> shift))


def _is_innermost(shape: Sequence[int], dim: int, channels_last: bool) -> bool:
    """Whether the elements along `dim` are next to each other in memory."""
    order = (0, 2, 3, 1) if channels_last else tuple(range(len(shape)))
    inner = order[order.index(dim) + 1 :]
    return shape[dim] == 1 or math.prod(shape[d] for d in inner) == 1


def _innermost(value: Value, row_size: int) -> Optional[int]:
    """The dimension of `value` that is innermost in memory, if it has `row_size` elements."""
    if storage.effective_layout(value) is Layout.CHANNELS_LAST:
        dim = 1
    else:
        # The last dimension that is not trivial.
        dims = [d for d, size in enumerate(value.shape) if size > 1]
        dim = dims[-1] if dims else len(value.shape) - 1
    return dim if value.shape and value.shape[dim] == row_size else None
