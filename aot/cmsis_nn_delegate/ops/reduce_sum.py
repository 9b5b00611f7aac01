"""Sum and mean over dimensions."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ..edge.nodes import first, operand, shape_of, target_name
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format import blocks
from ..format.cpp import camel
from ..format.element import COMMON_ELEMENT, KERNEL_ELEMENTS
from ..format.record import I8, I16, Field, Scalar, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element
from . import block_values, reduction
from .annotation import Elementwise
from .attrs import Clamp
from .case import Case
from .features import Features, blocks_of_channels, sums
from .kernel import KernelSpec, named_for
from .quantized_math import quantize_multiplier, requantize, to_output
from .reduction import dims_of


def _kernel(element: Scalar, offsets: tuple[Field, ...], activation: Struct) -> KernelSpec:
    name = named_for("reduce_sum", element)
    return KernelSpec(
        name,
        Struct(
            f"{camel(name)}Args",
            f"{element.element} sum over the middle one of three dimensions, requantized; the multiplier of a mean "
            "contains its divisor.",
            (
                *reduction.operands(element),
                *offsets,
                blocks.multiplier("output_multiplier"),
                blocks.shift("output_shift"),
                Field("activation", activation),
                *reduction.SIZES,
            ),
        ),
        priced_as="" if element is I8 else "reduce_sum",
    )


KERNEL = _kernel(I8, (blocks.input_offset(), blocks.output_offset()), blocks.ACTIVATION)
INT16 = _kernel(I16, (), blocks.ACTIVATION_INT16)

_MEANS = ("aten.mean.dim", "aten.mean.default")
_SUMS = ("aten.sum.dim_IntList", "aten.sum.default")


@dataclass(frozen=True)
class ReduceSumAttrs:
    """reduce_sum over the logical dimensions `dims`, which the output keeps with size 1; `mean`: divided by how many
    elements there are."""

    dims: tuple[int, ...]
    mean: bool
    clamp: Clamp = Clamp()


def _draw(d: Case) -> Value:
    return _drawn(d, *reduction.draw(d, d.pick(*KERNEL_ELEMENTS)))


def _draw_long(d: Case) -> Value:
    """Sums of more than 256 bytes have more than 16 bits."""
    return _drawn(d, d.input(d.integer(1, 2), d.integer(250, 600), d.integer(1, 24)), (1,))


def _drawn(d: Case, x: Value, dims: tuple[int, ...]) -> Value:
    mean = d.pick(False, True)
    count = math.prod(x.shape[dim] for dim in dims)
    # Sums of random numbers use the range of about the root of their count.
    scale = x.scale * float(2.0 ** d.random.uniform(-1, 2)) * (1 if mean else math.sqrt(count))
    return d.node("reduce_sum", [x], ReduceSumAttrs(dims, mean, d.clamp()), d.quant(scale, element=x.element))


class ReduceSum(reduction.ReductionOp):
    """The sum of steps from zero, requantized by input scale / output scale, which for a mean is divided by the number
    of elements. Exact but for the two roundings of the requantization, as in TFLite's mean and sum
    [kernels/internal/reference/integer_ops/mean.h], which round the divided multiplier once more.

    A mean over height and width is an average pooling (`avg_pool2d`), unless the image is a sequence: means vary less
    than what they are of, and the kernel for pooling would keep its scale.
    """

    name = "reduce_sum"
    targets = (*_MEANS, *_SUMS)
    annotation = Elementwise((*_MEANS, *_SUMS), operands=1)
    attrs = ReduceSumAttrs
    kernels = (KERNEL, INT16)
    draws = (_draw, _draw_long)
    elements = KERNEL_ELEMENTS
    limits = (
        "over any dimensions next to each other, and of images also those next to each other with the channels last",
    )

    def takes(self, node: EdgeNode, element: Element) -> bool:
        return _adds(reduction.count_of(node), element)

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        source = operand(node)
        return first(
            lambda: context.refuse_tensors(node, source),
            lambda: self._refuse_dims(node),
            lambda: context.refuse_quant(node, [source]),
            lambda: self._refuse_count(node, context),
            lambda: self._refuse_scales(node, context),
        )

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        source = operand(node)
        shape, dims = shape_of(source), dims_of(node)
        attrs = ReduceSumAttrs(dims, target_name(node) in _MEANS)
        kept = reduction.kept(shape, dims)
        if kept == shape_of(node):
            return [context.node(node, self.name, [context.value(source)], attrs)]
        reduced = context.node(node, self.name, [context.value(source)], attrs, kept, "_kept")
        return [reduced, context.node(node, "reshape", [reduced.output])]

    def features(self, node: Node) -> Features:
        outer, axis, inner = reduction.sizes_of(node)
        counts, path = reduction.reduced(outer, axis, inner)
        # Kernels add up vectors or, of bytes, words of the elements that lie together, and then the rest.
        if inner == 1:
            return Features({**counts, **sums(outer, axis)}, path)
        rows, results = (blocks_of_channels(*each, inner) for each in (("rows", outer * axis), ("results", outer)))
        return Features({**counts, **rows, **results}, path)

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        source = node.inputs[0]
        steps = inputs[0].reshape(reduction.sizes_of(node)).astype(np.int64) - source.zero_point
        total = requantize(steps.sum(axis=1), *self._multiplier(node))
        lo, hi = node.attrs.clamp.quantized(node.output.type)
        return to_output(total, node.output.zero_point, lo, hi, node.output.element).reshape(node.output.storage_shape)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        multiplier, shift = self._multiplier(node)
        source, output = node.inputs[0], node.output
        offsets = {"input_offset": -source.zero_point, "output_offset": output.zero_point}
        offsets = {} if output.element.is_symmetric else offsets
        return {
            **refs,
            **offsets,
            "output_multiplier": multiplier,
            "output_shift": shift,
            "activation": block_values.activation(node.attrs.clamp, node.output.type),
            **reduction.size_fields(node),
        }

    def _multiplier(self, node: Node) -> tuple[int, int]:
        """(mantissa, shift) of the sum."""
        source = node.inputs[0]
        count = math.prod(source.shape[dim] for dim in node.attrs.dims)
        real = source.scale / node.output.scale / (count if node.attrs.mean else 1)
        multiplier = quantize_multiplier(real)
        if not _fits(count, real, source.element):
            raise ValueError(f"{node.name}: its output scale is too small for sums of {count} elements")
        return multiplier

    def _refuse_dims(self, node: EdgeNode) -> Optional[Refusal]:
        shape, dims = shape_of(operand(node)), dims_of(node)
        if reduction.fits(shape, dims):
            return None
        return Refusal(
            Reason.UNSUPPORTED_PARAMETER,
            f"dimensions {list(dims)} of {list(shape)} are apart in memory; reduce them one after the other",
        )

    def _refuse_count(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        element, count = context.operand_element(operand(node)) or COMMON_ELEMENT, reduction.count_of(node)
        if _adds(count, element):
            return None
        return Refusal(
            Reason.TOO_LARGE,
            f"the sum of {count} numbers of {element.bits} bits may exceed 32 bits: reduce one dimension and then the "
            "next",
        )

    def _refuse_scales(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        count = reduction.count_of(node)
        source, output = context.input_scale(operand(node)), context.output_scale(node)
        element = context.operand_element(operand(node)) or COMMON_ELEMENT
        if _fits(count, source / output / (count if target_name(node) in _MEANS else 1), element):
            return None
        return Refusal(
            Reason.UNSUPPORTED_QUANTIZATION,
            f"output scale {output:g} is too small for sums of {count} elements of scale {source:g}; calibrate with "
            "data that reaches the range of the result",
        )


def _adds(count: int, element: Element) -> bool:
    """Whether no sum of `count` steps from zero of `element` exceeds 32 bits."""
    return _most(element) * count < 1 << 31


def _most(element: Element) -> int:
    """How far a number of `element` is from zero at most, in steps."""
    return -element.low if element.is_symmetric else element.high - element.low


def _fits(count: int, real: float, element: Element) -> bool:
    """Whether no sum of `count` steps from zero of `element` overflows when it is multiplied by `real`."""
    try:
        _, shift = quantize_multiplier(real)
    except ValueError:
        return False
    return _most(element) * count << max(shift, 0) < 1 << 31
