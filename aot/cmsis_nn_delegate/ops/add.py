"""int8 elementwise sum of two tensors of one shape."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional

import numpy as np

from ..edge.nodes import operand
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format import blocks
from ..format.record import I8, I32, Field, Struct
from ..graph.ir import Node, Value
from . import block_values, elementwise
from .annotation import Elementwise
from .attrs import AddAttrs
from .kernel import KernelSpec
from .layouts import Layouts
from .op import Op
from .quantized_math import quantize_multiplier, requantize, to_output, wrap32
from .random_case import RandomCase

LEFT_SHIFT = 20  # headroom that TFLite gives 8-bit sums

KERNEL = KernelSpec(
    "add",
    Struct(
        "AddArgs",
        "int8 elementwise sum of two tensors of one shape. The output may be one of the inputs.",
        (
            blocks.input("input1", I8, "count", doc="int8 [count]"),
            blocks.input("input2", I8, "count", doc="int8 [count]"),
            blocks.output(I8, "count", doc="int8 [count]"),
            blocks.input_offset("input1_offset"),
            blocks.multiplier("input1_multiplier"),
            blocks.shift("input1_shift", high=0),
            blocks.input_offset("input2_offset"),
            blocks.multiplier("input2_multiplier"),
            blocks.shift("input2_shift", high=0),
            Field("left_shift", I32, low=LEFT_SHIFT, high=LEFT_SHIFT),
            blocks.output_offset(),
            blocks.multiplier("output_multiplier"),
            blocks.shift("output_shift", high=0),
            Field("activation", blocks.ACTIVATION),
            Field("count", I32, "elements"),
        ),
    ),
    cmsis_nn="arm_elementwise_add_s8",
    cmsis_nn_sources=("BasicMathFunctions/arm_elementwise_add_s8.c",),
)


def _draw(d: RandomCase) -> Value:
    return d.add(*elementwise.draw_two(d), d.clamp())


def _draw_twice_itself(d: RandomCase) -> Value:
    return d.add(*elementwise.draw_twice_itself(d), d.clamp())


class Add(Op):
    """Both inputs are brought to twice the larger scale with `LEFT_SHIFT` more bits, summed,
    and requantized [TFLite AddParam, kernels/internal/reference/add.h].

    The output may be stored over either input.
    """

    name = "add"
    targets = ("aten.add.Tensor",)
    annotation = Elementwise(("aten.add.Tensor",), operands=2)
    attrs = AddAttrs
    kernels = (KERNEL,)
    draws = (_draw, _draw_twice_itself)
    limits = ("two activations of one shape; no constants, no broadcasting, alpha=1",)
    shapeless_input = True
    shapeless_output = True
    in_place = True
    layouts = Layouts.SAME

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        a, b, alpha = context.arguments(node)
        return (
            elementwise.refuse(node, a, b, context)
            or self._refuse_alpha(alpha)
            or self._refuse_scales(node, a, b, context)
        )

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        inputs = [context.value(operand(node, index)) for index in (0, 1)]
        return [context.node(node, self.name, inputs, AddAttrs())]

    def _refuse_alpha(self, alpha: Any) -> Optional[Refusal]:
        if alpha == 1:
            return None
        return Refusal(
            Reason.UNSUPPORTED_PARAMETER,
            f"alpha is {alpha}; only plain sums are supported: scale the weights that feed the second operand instead",
        )

    def _refuse_scales(self, node: EdgeNode, a: EdgeNode, b: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        largest = max(context.input_scale(x) for x in (a, b))
        output = context.output_scale(node)
        if _fits(2 * largest / ((1 << LEFT_SHIFT) * output)):
            return None
        return Refusal(
            Reason.UNSUPPORTED_QUANTIZATION,
            f"output scale {output:g} is too small for inputs of scale {largest:g}; calibrate with "
            "data that reaches the sum's range",
        )

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        *input_multipliers, output_multiplier = self._multipliers(node)
        total = np.zeros(1, np.int64)
        for value, data, multiplier in zip(node.inputs, inputs, input_multipliers):
            # Element by element in memory order, as the kernel: shapes may differ in dimensions of 1.
            shifted = (data.reshape(-1).astype(np.int64) - value.zero_point) << LEFT_SHIFT
            total = wrap32(total + requantize(shifted, *multiplier))
        lo, hi = node.attrs.clamp.quantized(node.output.type)
        result = to_output(requantize(total, *output_multiplier), node.output.zero_point, lo, hi)
        return result.reshape(node.output.storage_shape)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        first, second, output = self._multipliers(node)
        return {
            **refs,
            "input1_offset": -node.inputs[0].zero_point,
            "input1_multiplier": first[0],
            "input1_shift": first[1],
            "input2_offset": -node.inputs[1].zero_point,
            "input2_multiplier": second[0],
            "input2_shift": second[1],
            "left_shift": LEFT_SHIFT,
            "output_offset": node.output.zero_point,
            "output_multiplier": output[0],
            "output_shift": output[1],
            "activation": block_values.activation(node.attrs.clamp, node.output.type),
            "count": node.output.numel,
        }

    def _multipliers(self, node: Node) -> tuple[tuple[int, int], ...]:
        """(mantissa, shift) of both inputs and of the output; no shift is positive."""
        scales = [value.scale for value in node.inputs]
        twice_max = 2 * max(scales)
        reals = [scale / twice_max for scale in scales]
        reals.append(twice_max / ((1 << LEFT_SHIFT) * node.output.scale))
        if not _fits(reals[-1]):
            raise ValueError(
                f"{node.name}: the output scale {node.output.scale} is too small for"
                f" inputs of scale {max(scales)}; calibrate with data that reaches the sum's range"
            )
        return tuple(quantize_multiplier(real) for real in reals)


def _fits(output_multiplier: float) -> bool:
    """Whether the kernel takes it: it shifts to the right only, and 1 - 2^-33 is rounded to 1."""
    return output_multiplier < 1 and quantize_multiplier(output_multiplier)[1] <= 0
