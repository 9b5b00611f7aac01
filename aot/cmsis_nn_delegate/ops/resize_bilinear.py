"""Bilinear interpolation of images."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Optional

import numpy as np

from ..edge.nodes import operand, shape_of, target_name
from ..edge.program_types import EdgeContext, EdgeNode
from ..graph.ir import Node, Value
from . import resizing, storage
from .annotation import SameScale
from .case import Case

# Of the weights of two neighbours, as in TFLite.
WEIGHT_BITS = 10
# In half of the last bit kept, so that places are rounded to nearest.
_ROUNDING = 2.0 ** -(WEIGHT_BITS + 1)

_VEC = "aten.upsample_bilinear2d.vec"

KERNELS = resizing.kernels(
    "resize_bilinear", "bilinear interpolation, NHWC; input and output share scale and zero point."
)


def _draw(d: Case) -> Value:
    x, output = resizing.draw_image(d)
    corners = d.pick(False, True)
    scales = [d.pick(o / i, d.random.uniform(0.3, 4.0)) for i, o in zip(x.shape[2:], output)]
    rows, columns = (interpolated_line(i, o, s, corners) for i, o, s in zip(x.shape[2:], output, scales))
    assert rows is not None and columns is not None  # the sizes are small
    return d.node("resize_bilinear", [x], resizing.ResizeAttrs(output, rows, columns), x.quant)


class ResizeBilinear(resizing.ResizeOp):
    """The mean of four neighbours, weighted by how near they are, halves away from zero. Weights have 10 bits along
    each axis [TFLite kernels/internal/reference/resize_bilinear.h, ResizeBilinearInteger]. TFLite also rounds the scale
    to 10 bits, so that places drift from row to row; here each place is rounded, by at most 2^-11 pixels. Where 10 bits
    hold the scale (a factor of 2, 4, 8 without aligned corners), the results are TFLite's. Otherwise they are within
    255 * 2^-10 steps of the exact ones, of int16 65535 * 2^-10, before they are rounded.

    Input and output have one scale and zero point.
    """

    name = "resize_bilinear"
    targets = (_VEC, "aten.upsample_bilinear2d.default")
    whole = ("aten.upsample_bilinear2d.vec",)
    annotation = SameScale(targets)
    kernels = KERNELS
    draws = (_draw,)
    no_line = "it makes an image smaller by a factor of 128 or more; use average pooling instead, which sees all pixels"
    limits = (
        "any size or scale factor, with align_corners or without; sequences (mode linear) as images of one row; "
        "smaller by a factor of less than 128",
    )

    def lines(self, node: EdgeNode, context: EdgeContext) -> list[Optional[resizing.Line]]:
        arguments = context.arguments(node)
        corners = arguments[2]
        factors: Any = arguments[3] if target_name(node) == _VEC else arguments[3:5]
        sizes = zip(shape_of(operand(node))[2:], shape_of(node)[2:], factors or (None, None))
        return [interpolated_line(size, output, factor, corners) for size, output, factor in sizes]

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        attrs = node.attrs
        image = inputs[0].reshape(storage.nhwc(node.inputs[0])).astype(np.int64)
        for axis, line in ((1, attrs.rows), (2, attrs.columns)):
            size = image.shape[axis]
            places = line.places(storage.nhwc(node.output)[axis], size, WEIGHT_BITS)
            weight = (places & ((1 << WEIGHT_BITS) - 1)).reshape([-1 if dim == axis else 1 for dim in range(4)])
            near = places >> WEIGHT_BITS
            far = np.minimum(near + 1, size - 1)
            image = image.take(near, axis) * ((1 << WEIGHT_BITS) - weight) + image.take(far, axis) * weight
        half = 1 << (2 * WEIGHT_BITS - 1)
        mean: np.ndarray = np.sign(image) * ((np.abs(image) + half) >> (2 * WEIGHT_BITS))
        return mean.astype(node.output.element.numpy).reshape(node.output.storage_shape)


def interpolated_line(
    size: int, output: int, factor: Optional[float] = None, corners: bool = False
) -> Optional[resizing.Line]:
    """Where an axis of `output` lies in one of `size`: pixels at its corners, or as large as `factor`, the one that the
    caller gave, says. PyTorch's area_pixel_compute_scale and area_pixel_compute_source_index."""
    if corners:
        return resizing.line((size - 1) / (output - 1) if output > 1 else 0.0, _ROUNDING)
    scale = 1 / factor if factor else size / output
    return resizing.line(scale, (scale - 1) / 2 + _ROUNDING)
