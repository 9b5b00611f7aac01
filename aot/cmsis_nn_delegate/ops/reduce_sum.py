"""int8 sum and mean over dimensions."""

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
from ..format.record import I8, I32, Field, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Layout
from . import block_values, storage
from .annotation import Elementwise
from .attrs import Clamp
from .kernel import KernelSpec
from .layouts import Layouts
from .op import Op
from .quantized_math import quantize_multiplier, requantize, to_output
from .random_case import RandomCase

KERNEL = KernelSpec(
    "reduce_sum",
    Struct(
        "ReduceSumArgs",
        "int8 sum over the middle one of three dimensions, requantized; the multiplier of a mean contains its divisor.",
        (
            blocks.input("input", I8, "outer", "axis", "inner", doc="int8 [outer, axis, inner]"),
            blocks.output(I8, "outer", "inner", doc="int8 [outer, inner]"),
            blocks.input_offset(),
            blocks.output_offset(),
            blocks.multiplier("output_multiplier"),
            blocks.shift("output_shift"),
            Field("activation", blocks.ACTIVATION),
            Field("outer", I32),
            Field("axis", I32),
            Field("inner", I32),
        ),
    ),
    cmsis_nn="",
    why_portable="CMSIS-NN has no sum over a dimension",
)

_MEANS = ("aten.mean.dim", "aten.mean.default")
_SUMS = ("aten.sum.dim_IntList", "aten.sum.default")
# The dimensions in memory order.
_ORDERS = {Layout.ROW_MAJOR: (0, 1, 2, 3), Layout.CHANNELS_LAST: (0, 2, 3, 1)}


@dataclass(frozen=True)
class ReduceSumAttrs:
    """reduce_sum over the logical dimensions `dims`, which the output keeps with size 1; `mean`: divided by how many
    elements there are."""

    dims: tuple[int, ...]
    mean: bool
    clamp: Clamp = Clamp()


def _draw(d: RandomCase) -> Value:
    shape = d.pick(
        (d.batch(), d.channels(), *d.pair(1, 6)),
        (d.integer(1, 5), d.integer(1, 40), d.integer(1, 9)),
        (d.integer(1, 300),),
    )
    x = d.input(*shape)
    rank = len(shape)
    dims = d.pick(*[(i,) for i in range(rank)], tuple(range(1, rank)) or (0,), tuple(range(rank)))
    mean = d.pick(False, True)
    count = math.prod(shape[dim] for dim in dims)
    # Sums of random numbers use the range of about the root of their count.
    scale = x.scale * float(2.0 ** d.random.uniform(-1, 2)) * (1 if mean else math.sqrt(count))
    return d.node("reduce_sum", [x], ReduceSumAttrs(dims, mean, d.clamp()), d.quant(scale))


def geometry(shape: Sequence[int], dims: Sequence[int], layout: Layout) -> Optional[tuple[int, int, int]]:
    """Returns (outer, axis, inner), the sizes around and of the dimensions `dims` in memory; None if others lie between
    them."""
    order = _ORDERS[layout] if len(shape) == 4 else range(len(shape))
    sizes = [(shape[dim], dim in dims) for dim in order if shape[dim] > 1]
    inside = [reduced for _, reduced in sizes]
    begin = inside.index(True) if any(inside) else len(inside)
    end = begin + sum(inside)
    if not all(inside[begin:end]):
        return None
    outer, axis, inner = (
        math.prod(size for size, _ in part) for part in (sizes[:begin], sizes[begin:end], sizes[end:])
    )
    return outer, axis, inner


class ReduceSum(Op):
    """The sum of steps from zero, requantized by input scale / output scale, which for a mean is divided by the number
    of elements. Exact but for the two roundings of the requantization, as in TFLite's mean and sum
    [kernels/internal/reference/integer_ops/mean.h], which round the divided multiplier once more.

    A mean over height and width is an average pooling (`avg_pool2d`).
    """

    name = "reduce_sum"
    targets = (*_MEANS, *_SUMS)
    annotation = Elementwise(("aten.mean.default", *_SUMS), operands=1)
    attrs = ReduceSumAttrs
    kernels = (KERNEL,)
    draws = (_draw,)
    limits = (
        "over any dimensions next to each other, and of images also those next to each other with the channels last",
    )

    def claims(self, node: EdgeNode, context: EdgeContext) -> bool:
        return not is_pooling(node)

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        source = operand(node)
        return first(
            lambda: context.refuse_tensors(node, source),
            lambda: self._refuse_dims(node),
            lambda: context.refuse_quant(node, [source]),
            lambda: self._refuse_scales(node, context),
        )

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        source = operand(node)
        shape, dims = shape_of(source), dims_of(node)
        attrs = ReduceSumAttrs(dims, target_name(node) in _MEANS)
        kept = tuple(1 if dim in dims else size for dim, size in enumerate(shape))
        if kept == shape_of(node):
            return [context.node(node, self.name, [context.value(source)], attrs)]
        reduced = context.node(node, self.name, [context.value(source)], attrs, kept, "_kept")
        return [reduced, context.node(node, "reshape", [reduced.output])]

    def output_shape(self, inputs: Sequence[Value], attrs: Any) -> tuple[int, ...]:
        return tuple(1 if dim in attrs.dims else size for dim, size in enumerate(inputs[0].shape))

    def layouts_of(self, node: Node) -> Layouts:
        shape, dims = node.inputs[0].shape, node.attrs.dims
        if geometry(shape, dims, Layout.CHANNELS_LAST) is None:
            return Layouts.ROW_MAJOR
        return Layouts.CHANNELS_LAST if geometry(shape, dims, Layout.ROW_MAJOR) is None else Layouts.SAME

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        source = node.inputs[0]
        steps = inputs[0].reshape(self._geometry(node)).astype(np.int64) - source.zero_point
        total = requantize(steps.sum(axis=1), *self._multiplier(node))
        lo, hi = node.attrs.clamp.quantized(node.output.type)
        return to_output(total, node.output.zero_point, lo, hi).reshape(node.output.storage_shape)

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        outer, axis, inner = self._geometry(node)
        multiplier, shift = self._multiplier(node)
        return {
            **refs,
            "input_offset": -node.inputs[0].zero_point,
            "output_offset": node.output.zero_point,
            "output_multiplier": multiplier,
            "output_shift": shift,
            "activation": block_values.activation(node.attrs.clamp, node.output.type),
            "outer": outer,
            "axis": axis,
            "inner": inner,
        }

    def _geometry(self, node: Node) -> tuple[int, int, int]:
        source = node.inputs[0]
        found = geometry(source.shape, node.attrs.dims, storage.effective_layout(source))
        if found is None:
            raise ValueError(f"{node.name}: dimensions {node.attrs.dims} of {source.shape} are apart in memory")
        return found

    def _multiplier(self, node: Node) -> tuple[int, int]:
        """(mantissa, shift) of the sum."""
        source = node.inputs[0]
        count = math.prod(source.shape[dim] for dim in node.attrs.dims)
        real = source.scale / node.output.scale / (count if node.attrs.mean else 1)
        multiplier = quantize_multiplier(real)
        if not _fits(count, real):
            raise ValueError(f"{node.name}: its output scale is too small for sums of {count} elements")
        return multiplier

    def _refuse_dims(self, node: EdgeNode) -> Optional[Refusal]:
        shape, dims = shape_of(operand(node)), dims_of(node)
        if any(geometry(shape, dims, layout) is not None for layout in Layout):
            return None
        return Refusal(
            Reason.UNSUPPORTED_PARAMETER,
            f"dimensions {list(dims)} of {list(shape)} are apart in memory; reduce them one after the other",
        )

    def _refuse_scales(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        shape = shape_of(operand(node))
        count = math.prod(shape[dim] for dim in dims_of(node))
        source, output = context.input_scale(operand(node)), context.output_scale(node)
        if _fits(count, source / output / (count if target_name(node) in _MEANS else 1)):
            return None
        return Refusal(
            Reason.UNSUPPORTED_QUANTIZATION,
            f"output scale {output:g} is too small for sums of {count} elements of scale {source:g}; calibrate with "
            "data that reaches the range of the result",
        )


def _fits(count: int, real: float) -> bool:
    """Whether no sum of `count` steps overflows when it is multiplied by `real`."""
    try:
        _, shift = quantize_multiplier(real)
    except ValueError:
        return False
    return 255 * count << max(shift, 0) < 1 << 31


def dims_of(node: EdgeNode) -> tuple[int, ...]:
    """Returns the dimensions that a mean or a sum is over, in order."""
    rank = len(shape_of(operand(node)))
    given: Any = node.args[1] if len(node.args) > 1 and target_name(node) in (_MEANS[0], _SUMS[0]) else None
    given = [given] if isinstance(given, int) else given
    return tuple(sorted({dim % rank for dim in given})) if given else tuple(range(rank))


def is_pooling(node: EdgeNode) -> bool:
    """Returns whether `node` is a mean over height, width or both of images."""
    return target_name(node) == _MEANS[0] and len(shape_of(operand(node))) == 4 and set(dims_of(node)) <= {2, 3}
