"""Softmax along one dimension."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Optional

import numpy as np

from ..edge.nodes import first, operand, shape_of
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format import blocks
from ..format.element import KERNEL_ELEMENTS
from ..format.record import I8, I16, I32, Field, Struct
from ..format.schema import MAX_SHIFT, MAX_SOFTMAX_DIFFERENCE
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, Quant
from . import rows, softmax_int16
from .annotation import FixedOutput
from .attrs import SoftmaxAttrs
from .case import Case
from .cmsis_nn_rules import softmax_fits
from .features import Features
from .kernel import KernelSpec
from .quantized_math import (
    divide_by_power_of_two,
    exp_on_negative_values,
    high_mult,
    leading_zeros,
    one_over_one_plus_x,
    quantize_multiplier,
    wrap32,
)

INTEGER_BITS = 5  # of the scaled differences to the maximum, Q5.26
ACCUMULATOR_BITS = 12  # integer bits of the sum of exponentials
OUTPUT = Quant((1 / 256,), Element.INT8.low)
_OUTPUTS = {Element.INT8: OUTPUT, Element.INT16: softmax_int16.OUTPUT}


class Scaling(NamedTuple):
    """How a difference of int8 numbers becomes Q5.26."""

    multiplier: int
    shift: int
    diff_min: int  # smaller differences contribute nothing


SCALING_FIELDS = (
    blocks.multiplier("multiplier", "Q31 of the input scale"),
    blocks.shift("shift", low=0),
    Field(
        "diff_min",
        I32,
        "smaller differences to the maximum contribute nothing; [-(kMaxSoftmaxDifference >> shift), 0]",
    ),
)
_FIELDS = (
    blocks.input("input", I8, "rows", "row_size", doc="int8 [rows, row_size]"),
    blocks.output(I8, "rows", "row_size", doc="int8 [rows, row_size]"),
    Field("rows", I32),
    Field("row_size", I32),
    *SCALING_FIELDS,
)

KERNEL = KernelSpec(
    "softmax",
    Struct(
        "SoftmaxArgs",
        "int8 softmax along rows; the output has scale 1/256 and zero point -128.",
        _FIELDS,
        values="softmax",
    ),
)

LONG_KERNEL = KernelSpec(
    "softmax_long",
    Struct("SoftmaxLongArgs", "SoftmaxArgs for rows of any size.", _FIELDS, values="softmax"),
    variant="long",
)

INT16 = KernelSpec(
    "softmax_int16",
    Struct(
        "SoftmaxInt16Args",
        "int16 softmax along rows; the output has scale 1/32768.",
        (
            blocks.input("input", I16, "rows", "row_size", doc="int16 [rows, row_size]"),
            blocks.output(I16, "rows", "row_size", doc="int16 [rows, row_size]"),
            Field("rows", I32),
            Field("row_size", I32, low=1, high=softmax_int16.MAX_ROW),
            *softmax_int16.SCALING_FIELDS,
        ),
        values=softmax_int16.VALUES,
    ),
    priced_as="softmax",
)


def _draw(d: Case) -> Value:
    scale = float(2.0 ** d.random.uniform(-8, 3))
    columns = d.pick(d.integer(1, 20), d.integer(1, 20), d.integer(20, 511))
    return d.softmax(d.input(d.integer(1, 6), columns, quant=d.quant(scale)))


def _draw_long(d: Case) -> Value:
    """Rows of one value, too: then the sum of exponentials is as large as the row."""
    scale = float(2.0 ** d.random.uniform(-14, 3))
    columns = d.pick(d.integer(512, 700), d.integer(512, 700), d.integer(4090, 4200))
    return d.softmax(d.input(d.integer(1, 2), columns, quant=d.quant(scale)))


def _draw_int16(d: Case) -> Value:
    """Rows of few and of many elements that count, also of one alone; sums just below a power of two are among those of
    long ones."""
    scale = float(2.0 ** d.random.uniform(-30, 6))
    columns = d.pick(1, d.integer(1, 20), d.integer(20, 511), d.integer(512, 2000))
    x = d.input(d.integer(1, 6), columns, element=Element.INT16, quant=Quant((scale,), 0))
    return d.node("softmax", [x], SoftmaxAttrs(1), _OUTPUTS[Element.INT16])


class Softmax(rows.RowsOp):
    """exp(x - max) / sum(exp(x - max)) in fixed point; output scale 1/256, zero point -128.

    CMSIS-NN: arm_softmax_s8 [TFLite PreprocessSoftmaxScaling, CalculateInputRadius]. Longer rows have a kernel of
    their own with the same arithmetic. There, a sum of 512 and more means that every result is 0, since no
    probability reaches half a step.

    Of int16, the exponentials are interpolated in a table, and their sum has 25 bits after the point (`softmax_int16`);
    output scale 1/32768.
    """

    name = "softmax"
    targets = ("aten._softmax.default", "aten.softmax.int")
    annotation = FixedOutput(("aten.softmax.int", "aten._softmax.default"), OUTPUT.scale[0], OUTPUT.zero_point)
    kernels = (KERNEL, LONG_KERNEL, INT16)
    draws = (_draw, _draw_long, _draw_int16)
    elements = KERNEL_ELEMENTS
    limits = (
        "along any dimension; without a transpose along the last, and dimension 1 of images",
        "masks that are computed of an input of 0 and 1, which may be integers or floats, and masks of numbers that "
        "are an input: what they hide becomes 0, and takes no scale from the scores",
    )

    def takes(self, node: EdgeNode, element: Element) -> bool:
        return takes_row(node, element, rows.dim_of(node))

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        source = operand(node)
        return first(
            lambda: context.refuse_tensors(node, source),
            lambda: rows.refuse_dim(node),
            lambda: context.refuse_quant(node, [source]),
            lambda: refuse_scales(node, context, rows.dim_of(node)),
        )

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        attrs = SoftmaxAttrs(rows.dim_of(node))
        return [context.node(node, self.name, [context.value(operand(node))], attrs)]

    def variant(self, node: Node) -> str:
        short = is_wide(node) or softmax_fits(rows.rows_of(node)[1])
        return "" if short else LONG_KERNEL.variant

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        data = inputs[0].reshape(rows.rows_of(node))
        return probabilities_of(node, data, np.zeros(1, np.bool_)).reshape(node.output.storage_shape)

    def features(self, node: Node) -> Features:
        row_count, row_size = rows.rows_of(node)
        elements = row_count * row_size
        return Features({"rows": row_count, "outputs": elements, **exponential_counts(node, elements)})

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        count, row_size = rows.rows_of(node)
        return {**refs, "rows": count, "row_size": row_size, **fields_of(node)}


def takes_row(node: EdgeNode, element: Element, dim: int) -> bool:
    """Returns whether a kernel for `element` takes rows along dimension `dim` of the size that `node` has there."""
    return element is not Element.INT16 or not shape_of(node) or shape_of(node)[dim] <= softmax_int16.MAX_ROW


def is_wide(node: Node) -> bool:
    """Returns whether `node` computes in int16."""
    return node.inputs[0].element is Element.INT16


def fields_of(node: Node) -> Mapping[str, int]:
    """Returns the fields for the scale of the input of `node`, of its kernel's type."""
    scaling = softmax_int16.scaling(node.inputs[0].scale) if is_wide(node) else scaling_of(node)
    return scaling._asdict()


def probabilities_of(node: Node, data: np.ndarray, hidden: np.ndarray) -> np.ndarray:
    """Returns the softmax of each row of `data` over its elements that are not `hidden`, in the type of `node`."""
    if is_wide(node):
        return softmax_int16.probabilities(data, softmax_int16.scaling(node.inputs[0].scale), hidden)
    return probabilities(data, scaling_of(node), hidden)


def refuse_scales(node: EdgeNode, context: EdgeContext, dim: int) -> Optional[Refusal]:
    """Refuses scales of the input or output that no kernel for softmax has, and rows of int16 that are too long."""
    source, output = operand(node), context.output_quant(node)
    element = context.operand_element(source) or Element.INT8
    wanted = _OUTPUTS[element]
    if output is not None and output != wanted:
        return Refusal(
            Reason.UNSUPPORTED_QUANTIZATION,
            f"output scale {output.scale[0]:g} and zero point {output.zero_point}; the kernel's"
            f" are 1/{1 / wanted.scale[0]:g} and {wanted.zero_point}: {context.requantize}",
        )
    if not takes_row(node, element, dim):
        return Refusal(
            Reason.TOO_LARGE,
            f"its rows have {shape_of(node)[dim]} elements; sums of more than {softmax_int16.MAX_ROW} exponentials may "
            "exceed what the kernel of int16 divides by: let the module compute in int8, with `format: int8`",
        )
    if element is Element.INT16:
        return None
    scale = context.input_scale(source)
    if scale * (1 << (31 - INTEGER_BITS)) <= 1:
        return Refusal(
            Reason.UNSUPPORTED_QUANTIZATION,
            f"input scale {scale:g} is too small for the kernel; calibrate with representative data",
        )
    return None


def exponential_counts(node: Node, elements: int) -> dict[str, int]:
    """Returns how many of `elements` elements have an exponential, being close enough to the maximum of their row, and
    of how many factors these are made (`exp_on_negative_values`), if elements are spread evenly over their range, at
    whose end the maximum is. With other inputs there are more or fewer. In int16, all cost about the same."""
    if is_wide(node):
        return {}
    distances = np.arange(min(1 - scaling_of(node).diff_min, 256))
    quarters = (distances * node.inputs[0].scale * 4).astype(np.int64) & 0x7F
    factors = int(sum((quarters >> bit & 1).sum() for bit in range(7)))
    return {"exponentials": elements * len(distances) // 256, "factors": elements * factors // 256}


def scaling_of(node: Node) -> Scaling:
    """Returns how the differences of the inputs are scaled. ValueError if their scale is too small for the kernels."""
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


def exponentials(scaling: Scaling) -> np.ndarray:
    """Returns int64 [256]: the exponentials of the differences 0 to -255 to the maximum, in Q31, and 0 for those that
    contribute nothing."""
    steps = np.arange(256, dtype=np.int64)
    found = exp_on_negative_values(high_mult(wrap32(-steps << scaling.shift), scaling.multiplier))
    return np.where(-steps >= scaling.diff_min, found, 0)


def probabilities(data: np.ndarray, scaling: Scaling, hidden: np.ndarray) -> np.ndarray:
    """Returns the int8 softmax of each row of `data` over its elements that are not `hidden`; these become 0."""
    low = Element.INT8.low
    data = np.where(hidden, low, data.astype(np.int64))  # no influence on the maximum
    exps = exponentials(scaling)
    distance = data.max(axis=1, keepdims=True) - data
    counts = (-distance >= scaling.diff_min) & ~hidden
    terms = np.where(counts, divide_by_power_of_two(exps, ACCUMULATOR_BITS)[distance], 0)
    total = np.minimum(terms.sum(axis=1, keepdims=True), 2**31 - 1)
    headroom = leading_zeros(total)
    inverse = one_over_one_plus_x(wrap32((total << headroom) - (1 << 31)))
    bits = ACCUMULATOR_BITS - headroom + 23
    result = divide_by_power_of_two(high_mult(inverse, exps[distance]), np.minimum(bits, 31)) * (bits <= 31)
    result = np.clip(result + OUTPUT.zero_point, low, Element.INT8.high)
    return np.where(counts, result, low).astype(np.int8)
