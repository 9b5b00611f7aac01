"""Maximum and average pools of images in float32."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ..edge.nodes import first, operand, pair, shape_of, target_name
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Reason, Refusal
from ..format import blocks
from ..format.record import F32, I32, Field, Struct
from ..format.schema import MAX_STEP
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element
from . import block_values, pooling
from .case import Case
from .features import Features
from .float_op import FloatOp, drawn
from .kernel import KernelSpec
from .windows_float32 import DIMS, Windows

KERNEL = KernelSpec(
    "pool2d_float32",
    Struct(
        "Pool2dFloat32Args",
        "float32 pool of images [n, c, h, w]: the maximum of what lies in a window, or the sum, divided: of each row, "
        "0 plus one element after the other, and of the rows in the same way.",
        (
            blocks.input("input", F32, "input_dims", doc="float32 [n, c, h, w]"),
            blocks.output(F32, "output_dims", doc="float32 [n, c, h, w]"),
            Field(
                "params",
                Struct(
                    "PoolFloat32Params",
                    "PoolParams of float32.",
                    (
                        Field("stride", blocks.TILE, ">= 1"),
                        Field("padding", blocks.TILE, "top and left, in [0, kernel)"),
                    ),
                ),
            ),
            *DIMS,
            Field("average", I32, "0: the maximum", low=0, high=1),
            Field("divisor", F32, "of an average; 0: how many elements of the window lie in the image"),
        ),
        geometry="pooling",
    ),
)
_MAX = ("aten.max_pool2d.default", pooling.WITH_INDICES)
_ADAPTIVE = ("aten.adaptive_avg_pool2d.default", "aten._adaptive_avg_pool2d.default")


@dataclass(frozen=True)
class Pool2dFloat32Attrs:
    """pool2d_float32. `divisor` is that of the argument block; None for a maximum."""

    windows: Windows
    divisor: Optional[float]


def _draw(d: Case) -> Value:
    kernel = d.pair(1, 4)
    padding = d.integer(0, kernel[0] // 2), d.integer(0, kernel[1] // 2)
    stride = d.integer(1, kernel[0]), d.integer(1, kernel[1])
    image = kernel[0] + d.integer(0, 6), kernel[1] + d.integer(0, 6)
    output = tuple((i + 2 * p - k) // s + 1 for i, p, k, s in zip(image, padding, kernel, stride))
    windows = Windows(d.batch(), d.integer(1, 6), image, kernel, (output[0], output[1]), stride, padding)
    x = d.input(windows.batch, windows.channels, image[0] * image[1], element=Element.FLOAT32)
    attrs = Pool2dFloat32Attrs(windows, d.pick(None, 0.0, float(math.prod(kernel))))
    return drawn(d, "pool2d_float32", [x], attrs)


class Pool2dFloat32(FloatOp):
    """The maximum, or the mean, of each window."""

    name = "pool2d_float32"
    targets = (*_MAX, "aten.avg_pool2d.default", *_ADAPTIVE)
    attrs = Pool2dFloat32Attrs
    kernels = (KERNEL,)
    draws = (_draw,)
    limits = (
        "images [N, C, H, W]; no dilation; averages with ceil_mode only without padding; adaptive ones only to sizes "
        "that divide the image's",
    )

    def claims(self, node: EdgeNode, context: EdgeContext) -> bool:
        return target_name(node) not in _ADAPTIVE or set(shape_of(node)[-2:]) != {1}

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        return first(lambda: pooling.refuse_indices(node), lambda: super(Pool2dFloat32, self).check(node, context))

    def result_of(self, node: EdgeNode) -> EdgeNode:
        return pooling.result_of(node)

    def refuse_arguments(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        if len(shape_of(operand(node))) == 4 and _attrs(node, context) is not None:
            return None
        return Refusal(
            Reason.UNSUPPORTED_PARAMETER,
            "kernels of float32 take pools of images [N, C, H, W] without dilation, averages with ceil_mode only "
            f"without padding, sizes of at most {MAX_STEP}, and adaptive averages only where all windows are alike",
        )

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        attrs = _attrs(node, context)
        return [context.node(self.result_of(node), self.name, [context.value(operand(node))], attrs)]

    def output_shape(self, inputs: Sequence[Value], attrs: Any) -> tuple[int, ...]:
        return attrs.windows.batch, attrs.windows.channels, *attrs.windows.output

    def features(self, node: Node) -> Features:
        w: Windows = node.attrs.windows
        taps = w.batch * w.channels * w.taps_inside()
        return Features({"outputs": node.output.numel, "taps": taps})

    def real_reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        a: Pool2dFloat32Attrs = node.attrs
        shape = a.windows.batch, a.windows.channels, *a.windows.output
        taps = a.windows.taps(inputs[0])
        if a.divisor is None:
            most = np.full(shape, -np.inf, np.float32)
            for _, _, found, inside in taps:
                most = np.where(inside & (found > most), found, most)
            return most
        total, count = np.zeros(shape, np.float32), np.zeros(a.windows.output, np.float32)
        row, last = total, a.windows.kernel[1] - 1
        for _, kx, found, inside in taps:
            row = row if kx else np.zeros(shape, np.float32)
            row = np.where(inside, row + found, row)
            if kx == last:
                total = total + row  # 0 of a row outside of the image changes nothing
            count = count + inside.astype(np.float32)
        mean: np.ndarray = total / (count if a.divisor == 0 else np.float32(a.divisor))
        return mean

    def fields(self, node: Node) -> Mapping[str, Any]:
        a: Pool2dFloat32Attrs = node.attrs
        w = a.windows
        return {
            "params": w.tiles(dilation=False),
            "input_dims": block_values.dims(w.batch, *w.image, w.channels),
            "filter_dims": block_values.dims(1, *w.kernel, 1),
            "output_dims": block_values.dims(w.batch, *w.output, w.channels),
            "average": int(a.divisor is not None),
            "divisor": a.divisor or 0.0,
        }


def _attrs(node: EdgeNode, context: EdgeContext) -> Optional[Pool2dFloat32Attrs]:
    """Returns what an edge node computes; None if the kernel does not."""
    name, shape = target_name(node), shape_of(operand(node))
    given = context.arguments(node)
    if name in _ADAPTIVE:
        output = shape_of(node)[2:]
        if any(size % count for size, count in zip(shape[2:], output)):
            return None
        kernel = stride = shape[2] // output[0], shape[3] // output[1]
        padding, divisor = (0, 0), float(math.prod(kernel))
    else:
        kernel, stride, padding = pair(given[1]), pair(given[2] or given[1]), pair(given[3])
        divisor = None
        if name in _MAX:
            if set(pair(given[4])) != {1}:
                return None
        else:
            ceil, include, override = given[4:7]
            if ceil and padding != (0, 0):
                return None
            divisor = float(override or (math.prod(kernel) if include and padding != (0, 0) else 0))
        output = shape_of(pooling.result_of(node))[2:]
    if max(*kernel, *stride) > MAX_STEP:
        return None
    return Pool2dFloat32Attrs(
        Windows(shape[0], shape[1], (shape[2], shape[3]), kernel, (output[0], output[1]), stride, padding), divisor
    )
