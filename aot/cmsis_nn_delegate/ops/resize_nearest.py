"""Nearest-neighbour resampling of images by any factor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Optional

import numpy as np

from ..edge.nodes import operand, shape_of
from ..edge.program_types import EdgeContext, EdgeNode
from ..graph.ir import Node, Value
from . import resizing, storage
from .annotation import NotAnnotated
from .case import Case
from .upsample_nearest import TARGETS, repeats

KERNELS = resizing.kernels("resize_nearest", "nearest-neighbour resampling, NHWC.")


def _draw(d: Case) -> Value:
    x, output = resizing.draw_image(d)
    lines = []
    for size, count in zip(x.shape[2:], output):
        indices = np.floor((np.arange(count) + d.pick(0, 0.5)) * d.pick(size / count, d.random.uniform(0.1, 3)))
        lines.append(resizing.line_through(np.minimum(indices, size - 1).astype(np.int64), size))
    rows, columns = lines
    assert rows is not None and columns is not None  # the sizes are small
    return d.node("resize_nearest", [x], resizing.ResizeAttrs(output, rows, columns), x.quant)


class ResizeNearest(resizing.ResizeOp):
    """Copies the pixels that PyTorch chooses. It computes them in float32; the line in fixed point that gives the same
    ones is found ahead of time."""

    name = "resize_nearest"
    targets = TARGETS
    annotation = NotAnnotated("it shares its targets with upsample_nearest, which is annotated")
    kernels = KERNELS
    draws = (_draw,)
    no_line = (
        "the kernel's fixed point does not give the pixels that PyTorch chooses; use a scale factor that is an integer"
    )
    limits = ("any size or scale factor; a factor that is an integer is a copy, upsample_nearest",)
    computes = False

    def claims(self, node: EdgeNode, context: EdgeContext) -> bool:
        return not repeats(node, context)

    def lines(self, node: EdgeNode, context: EdgeContext) -> list[Optional[resizing.Line]]:
        found = zip(context.chosen_pixels(node), shape_of(operand(node))[2:])
        return [resizing.line_through(indices, size) for indices, size in found]

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        image = inputs[0].reshape(storage.nhwc(node.inputs[0]))
        _, height, width, _ = storage.nhwc(node.output)
        rows = node.attrs.rows.places(height, image.shape[1], 0)
        columns = node.attrs.columns.places(width, image.shape[2], 0)
        return image[:, rows][:, :, columns].reshape(node.output.storage_shape)
