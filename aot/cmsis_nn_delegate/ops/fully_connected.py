"""Linear layer with weights of 8 or 4 bits."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any, Optional

import numpy as np

from ..edge.nodes import first, operand, shape_of, target_name
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format import blocks
from ..format.element import KERNEL_ELEMENTS
from ..format.record import I4, I8, I16, I32, Field, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element
from . import block_values, channels, constant_weights, grouped_weights, per_channel_requantize, storage
from .annotation import Weighted
from .attrs import ConvAttrs, FullyConnectedAttrs, GroupedAttrs
from .case import Case
from .channels import Bounds
from .cmsis_nn_rules import MAX_SIZE
from .constant_weights import Operands
from .features import Features, row_products
from .kernel import KernelSpec
from .layouts import Layouts
from .op import Op

PER_CHANNEL = KernelSpec(
    "fully_connected",
    Struct(
        "FullyConnectedArgs",
        "int8 linear layer with a multiplier per output. acc = bias + filter @ input: the bias already "
        "contains -zero_point of the input * sum(filter row), on every ISA, so that no kernel needs an "
        "input offset, or kernel sums at run time on MVE.",
        (
            blocks.input("input", I8, "batch", "inputs", doc="int8 [batch, in]"),
            blocks.filter("inputs", "outputs", doc="int8 [out, in]"),
            blocks.bias("outputs", doc="int32 [out], effective bias"),
            blocks.multipliers("outputs", doc="int32 [out], Q31, >= 0"),
            blocks.shifts("outputs", doc="int32 [out], left if positive, [-31, 30]"),
            blocks.output(I8, "batch", "outputs", doc="int8 [batch, out]"),
            Field("batch", I32, "at least 1"),
            blocks.output_offset(),
            Field("inputs", I32, "in, at least 1"),
            Field("outputs", I32, "out, at least 1"),
            Field("activation", blocks.ACTIVATION),
        ),
    ),
)

_ROWS_INT16 = (
    Field("batch", I32, "at least 1"),
    Field("inputs", I32, "in, at least 1"),
    Field("outputs", I32, "out, at least 1"),
    Field("activation", blocks.ACTIVATION_INT16),
)
INT16 = KernelSpec(
    "fully_connected_int16",
    Struct(
        "FullyConnectedInt16Args",
        "int16 linear layer with int8 weights and a multiplier per output. acc = bias + filter @ input, in 32 bits; "
        "zero points are 0.",
        (
            blocks.input("input", I16, "batch", "inputs", doc="int16 [batch, in]"),
            blocks.filter("inputs", "outputs", doc="int8 [out, in]"),
            blocks.bias("outputs", doc="int32 [out]"),
            blocks.multipliers("outputs", doc="int32 [out], Q31, >= 0"),
            blocks.shifts("outputs", doc="int32 [out], left if positive, [-31, 30]"),
            blocks.scratch(),
            blocks.output(I16, "batch", "outputs", doc="int16 [batch, out]"),
            Field("scratch_bytes", I32),
            *_ROWS_INT16,
        ),
    ),
    priced_as="fully_connected",
)

INT4 = KernelSpec(
    "fully_connected_int4",
    Struct(
        "FullyConnectedInt4Args",
        "FullyConnectedArgs with weights of 4 bits, two in a byte, the first in the lower half; the rows follow each "
        "other without gaps.",
        (
            blocks.input("input", I8, "batch", "inputs", doc="int8 [batch, in]"),
            blocks.filter("inputs", "outputs", doc="int4 [out, in]", element=I4),
            *PER_CHANNEL.args.fields[2:],
        ),
    ),
    priced_as="fully_connected",
)

INT4_INT16 = KernelSpec(
    "fully_connected_int4_int16",
    Struct(
        "FullyConnectedInt4Int16Args",
        "FullyConnectedInt16Args with the weights of FullyConnectedInt4Args.",
        (
            INT16.args.fields[0],
            INT4.args.fields[1],
            *INT16.args.fields[2:5],
            blocks.output(I16, "batch", "outputs", doc="int16 [batch, out]"),
            *_ROWS_INT16,
        ),
    ),
    priced_as="fully_connected",
)

PER_TENSOR = KernelSpec(
    "fully_connected_per_tensor",
    Struct(
        "FullyConnectedPerTensorArgs",
        "FullyConnectedArgs with one multiplier for all outputs, which makes a faster kernel.",
        (
            blocks.input("input", I8, "batch", "inputs", doc="int8 [batch, in]"),
            blocks.filter("inputs", "outputs", doc="int8 [out, in]"),
            blocks.bias("outputs", doc="int32 [out], effective bias"),
            blocks.output(I8, "batch", "outputs", doc="int8 [batch, out]"),
            Field("batch", I32, "at least 1"),
            blocks.output_offset(),
            blocks.multiplier("multiplier"),
            blocks.shift("shift"),
            Field("inputs", I32, "in, at least 1"),
            Field("outputs", I32, "out, at least 1"),
            Field("activation", blocks.ACTIVATION),
        ),
    ),
    variant="per_tensor",
)


def _draw(d: Case) -> Value:
    x = d.input(d.batch(), d.pick(d.integer(1, 20), d.integer(1, 20), d.integer(20, 300)))
    return d.fully_connected(x, d.integer(1, 40), d.clamp())


def _draw_int16(d: Case) -> Value:
    x = d.input(d.batch(), d.pick(d.integer(1, 20), d.integer(20, 300)), element=Element.INT16)
    return d.fully_connected(x, d.integer(1, 40), d.clamp(), per_tensor=d.pick(False, True))


def _draw_int4(d: Case) -> Value:
    """Also rows of odd length, of which every other one begins within a byte."""
    x = d.input(d.batch(), d.pick(d.integer(1, 20), d.integer(1, 20), d.integer(20, 300)))
    per_tensor = d.pick(False, True)
    return d.fully_connected(x, d.integer(1, 40), d.clamp(), per_tensor, element=Element.INT4)


def _draw_int4_int16(d: Case) -> Value:
    x = d.input(d.batch(), d.pick(d.integer(1, 20), d.integer(20, 300)), element=Element.INT16)
    per_tensor = d.pick(False, True)
    return d.fully_connected(x, d.integer(1, 40), d.clamp(), per_tensor, element=Element.INT4)


def _draw_image(d: Case) -> Value:
    x = d.input(d.batch(), d.integer(1, 6), *d.pair(1, 5))
    return d.fully_connected(x, d.integer(1, 20), d.clamp())


def _draw_per_tensor(d: Case) -> Value:
    """A kernel of its own."""
    x = d.input(d.batch(), d.pick(d.integer(1, 20), d.integer(20, 300)))
    return d.fully_connected(x, d.integer(1, 40), d.clamp(), per_tensor=True)


class FullyConnected(Op):
    """acc = bias + weight @ (x - zero point), requantized per output.

    The part of the sum that does not depend on x, -zero point * sum(weight row), is added to
    the bias ahead of time. The kernels then need no input offset and, on MVE, no kernel sums,
    and so no scratch memory on any core.

    If all outputs have the same multiplier, as with weights quantized per tensor, the faster of
    two kernels is used. CMSIS-NN: arm_nn_vec_mat_mult_t_s8 and arm_nn_vec_mat_mult_t_per_ch_s8,
    called once for every row of the batch, as arm_fully_connected_s8 does.

    int16 activations have sums of 32 bits, which `check_data` proves to suffice, and are requantized with multipliers
    of 31 bits, as TFLite Micro's and CMSIS-NN's convolutions with a bias of 32 bits do. Their linear layers have sums
    of 64 bits and multipliers that are rounded to 16 bits, so that CMSIS-NN computes this one as a convolution.

    Weights of 4 bits are unpacked where they are multiplied. arm_fully_connected_s4 has one multiplier for all outputs,
    so that CMSIS-NN computes these as the product of matrices that a pointwise convolution is, with a multiplier each.
    """

    name = "fully_connected"
    targets = ("aten.linear.default", "aten.addmm.default", "aten.mm.default")
    whole = ("aten.linear.default",)
    annotation = Weighted(("aten.linear.default",), linear=True)
    attrs = FullyConnectedAttrs
    kernels = (PER_CHANNEL, PER_TENSOR, INT16, INT4, INT4_INT16)
    draws = (_draw, _draw_image, _draw_per_tensor, _draw_int16, _draw_int4, _draw_int4_int16)
    elements = KERNEL_ELEMENTS
    limits = (
        "constant weights; any rank; alpha and beta of addmm are 1",
        constant_weights.INT16_LIMIT,
        constant_weights.INT4_LIMIT,
        "weights of 4 bits with a scale for each group of inputs, as torchao's PerGroup and GPTQ's tools give them, in "
        "[-8, 7], with zero points 0 and int8 activations",
        "cumsum: a matrix of ones for 32 elements, so that sums are rounded once; longer ones in blocks",
        "index_add, scatter_add and index_put that adds, at constant indices",
    )
    shapeless_input = True
    shapeless_output = True
    layouts = Layouts.ROW_MAJOR

    def claims(self, node: EdgeNode, context: EdgeContext) -> bool:
        # The product of two activations is another operator.
        return target_name(node) != "aten.mm.default" or context.constant_float(operand(node, 1)) is not None

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        operands = self._operands(node, context)
        source = operands.source
        return first(
            lambda: context.refuse_tensors(node, source, operands.weight),
            lambda: self._refuse_parameters(node, context),
            lambda: constant_weights.refuse_variable(operands, context),
            lambda: context.refuse_quant(node, [source]),
            lambda: self._refuse_weights(node, operands, context),
            lambda: self._refuse_inputs(node, operands, context),
        )

    def check_data(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        operands = self._operands(node, context)
        groups = grouped_weights.of_groups(operands, context)
        if groups is not None:
            return grouped_weights.check_data(node, operands, context, groups)
        return constant_weights.check_data(node, operands, context)

    def _refuse_weights(self, node: EdgeNode, operands: Operands, context: EdgeContext) -> Optional[Refusal]:
        groups = grouped_weights.of_groups(operands, context)
        if groups is not None:
            return grouped_weights.check(node, operands, context, groups)
        return constant_weights.check(node, operands, context)

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        operands = self._operands(node, context)
        groups = grouped_weights.of_groups(operands, context)
        if groups is not None:
            constants, narrowing = grouped_weights.build(node, operands, context, groups)
            inputs = [context.value(operands.source), *constants]
            return [context.node(node, "fully_connected_groups", inputs, GroupedAttrs(narrowing))]
        source, (weight, bias) = context.value(operands.source), constant_weights.build(operands, context)
        if bias.element is not Element.INT64:
            return [context.node(node, self.name, [source, weight, bias], FullyConnectedAttrs())]
        # Each row is an image of one pixel.
        outputs, row_size = weight.shape
        pixels = storage.rows_of(source, row_size), row_size, 1, 1
        images = context.node(node, "reshape", [source], None, pixels, "_pixels")
        taps = outputs, row_size, 1, 1
        filters = replace(weight, type=weight.type.of(shape=taps), data=weight.constant.reshape(taps))
        wide = context.node(
            node,
            constant_weights.WIDE,
            [images.output, filters, bias],
            ConvAttrs(),
            (pixels[0], outputs, 1, 1),
            "_wide",
        )
        return [images, wide, context.node(node, "reshape", [wide.output])]

    def _operands(self, node: EdgeNode, context: EdgeContext) -> Operands:
        """Returns the operands of linear, or of its decompositions addmm and mm, whose weight is [in, out]."""
        arguments = context.arguments(node)
        if target_name(node) == "aten.linear.default":
            return Operands(*arguments[:3])
        if target_name(node) == "aten.mm.default":
            return Operands(arguments[0], arguments[1], None, transposed=True)
        bias, source, weight = arguments[:3]
        return Operands(source, weight, bias, transposed=True)

    def _refuse_inputs(self, node: EdgeNode, operands: Operands, context: EdgeContext) -> Optional[Refusal]:
        """Refuses rows of int16 that are longer than a kernel counts."""
        inputs = shape_of(operands.source)[-1]
        if context.operand_element(operands.source) is not Element.INT16 or inputs <= MAX_SIZE:
            return None
        return Refusal(
            Reason.TOO_LARGE,
            f"it has {inputs} inputs of 16 bits, and the kernel takes at most {MAX_SIZE}: split them into two layers, "
            "and add their results",
        )

    def _refuse_parameters(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        if target_name(node) == "aten.addmm.default" and tuple(context.arguments(node)[3:5]) != (
            1,
            1,
        ):
            return Refusal(
                Reason.UNSUPPORTED_PARAMETER,
                "alpha and beta other than 1 are not supported; multiply the constants instead",
            )
        return None

    def output_shape(self, inputs: Sequence[Value], attrs: Any) -> tuple[int, ...]:
        """[rows, out]; the importer gives the rows the dimensions that they have in PyTorch."""
        outputs, row_size = inputs[1].shape
        return storage.rows_of(inputs[0], row_size), outputs

    def read_reshaped(self, node: Node, reshape: Node) -> bool:
        """Reads the elements in another order by permuting the columns of the weights."""
        return not storage.moves(reshape.inputs[0], reshape.output) or self._permute_columns(node, reshape)

    def _permute_columns(self, node: Node, reshape: Node) -> bool:
        """Gives the weights the columns in the order of the unflattened image, if it is flattened whole."""
        source = reshape.inputs[0]
        weight = node.inputs[1]
        image = math.prod(source.shape[1:])
        if weight.shape[1] != image or reshape.output.numel != source.shape[0] * image:
            return False
        order = storage.memory_order(source.type.of(shape=(1, *source.shape[1:])))
        data = np.ascontiguousarray(weight.constant[:, order])
        # A separate copy, because another layer may read the same weights in another order.
        node.inputs[1] = replace(weight, name=f"{weight.name}_nhwc", data=data)
        return True

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        weight = node.inputs[1].constant
        rows = inputs[0].reshape(-1, weight.shape[1])
        # float64 is exact below 2^53, which no sum reaches, and has a fast product.
        acc = rows.astype(np.float64) @ weight.astype(np.float64).T
        return per_channel_requantize.finish(node, acc, self._bias(node)).reshape(node.output.storage_shape)

    def bounds(self, node: Node, inputs: Sequence[Bounds]) -> Bounds:
        if not self.weighted(node):
            return super().bounds(node, inputs)
        x = channels.by_channel(inputs[0], node.inputs[0])
        return channels.along(channels.weighted_bounds(node, x, 1, False), node.output)

    def carried(self, node: Node) -> Collection[int]:
        x, shape = node.inputs[0], node.output.shape
        return range(len(shape) - 1) if x.shape[:-1] == shape[:-1] and x.shape[-1] == node.inputs[1].shape[1] else ()

    def weighted(self, node: Node) -> bool:
        return channels.axis(node.inputs[0]) == len(node.inputs[0].shape) - 1

    def narrow(self, node: Node, inputs: np.ndarray, outputs: np.ndarray) -> None:
        channels.narrow_weighted(node, inputs, outputs)

    def channel_parameters(self, node: Node) -> Sequence[bytes]:
        return channels.row_parameters(node)

    def macs(self, node: Node) -> int:
        return node.output.numel * node.inputs[1].shape[1]

    def features(self, node: Node) -> Features:
        channels, row_size = node.inputs[1].shape
        rows = storage.rows_of(node.inputs[0], row_size)
        return row_products(rows, channels, row_size)

    def variant(self, node: Node) -> str:
        return PER_TENSOR.variant if self._uniform(node) else PER_CHANNEL.variant

    def constants(self, node: Node) -> Mapping[str, np.ndarray]:
        weight = node.inputs[1]
        arrays = per_channel_requantize.constants(node, weight.type.packed(weight.constant), self._bias(node))
        if not self._uniform(node):
            return arrays
        return {name: arrays[name] for name in ("filter", "bias")}

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        outputs, row_size = node.inputs[1].shape
        sizes = block_values.dims(storage.rows_of(node.inputs[0], row_size), 1, outputs, row_size)
        fields = {
            **refs,
            "batch": sizes["n"],
            "inputs": sizes["c"],
            "outputs": sizes["w"],
            "activation": block_values.activation(node.attrs.clamp, node.output.type),
        }
        if node.output.element is Element.INT16:
            packed = node.inputs[1].element is Element.INT4
            return fields if packed else {**fields, "scratch_bytes": scratch_bytes}
        fields["output_offset"] = node.output.zero_point
        if self._uniform(node):
            multiplier, shift = per_channel_requantize.output_multipliers(node)
            fields.update(multiplier=int(multiplier[0]), shift=int(shift[0]))
        return fields

    def _uniform(self, node: Node) -> bool:
        """Whether all outputs are requantized alike, and there is a kernel for that."""
        if Element.INT16 is node.output.element or Element.INT4 is node.inputs[1].element:
            return False
        multiplier, shift = per_channel_requantize.output_multipliers(node)
        return bool(np.all(multiplier == multiplier[0]) and np.all(shift == shift[0]))

    def _bias(self, node: Node) -> np.ndarray:
        """int32 [out]: the bias with the input's zero point folded in."""
        x, weight, bias = node.inputs
        return per_channel_requantize.effective_bias(weight, bias, x.zero_point)
