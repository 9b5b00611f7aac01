"""Average pooling to an output size that does not divide the input's."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Optional

import numpy as np

from ..edge.nodes import first, operand, shape_of
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Refusal
from ..format import blocks
from ..format.cpp import camel
from ..format.element import KERNEL_ELEMENTS
from ..format.record import I8, I16, Field, Scalar, Struct
from ..graph.ir import Node, Value
from . import block_values, pooling, resizing, storage
from .annotation import NotAnnotated
from .attrs import Clamp
from .case import Case
from .features import Features, elements
from .geometry import Pair
from .kernel import KernelSpec, named_for
from .op import Op


def _kernel(element: Scalar, activation: Struct) -> KernelSpec:
    name, kind = named_for("adaptive_avg_pool2d", element), element.element
    return KernelSpec(
        name,
        Struct(
            f"{camel(name)}Args",
            f"{kind} average pooling, NHWC, of windows as long as the output size asks for; input and output share "
            "scale and zero point.",
            (
                blocks.input("input", element, "input_dims", doc=f"{kind} [n, h, w, c]"),
                blocks.output(element, "output_dims", doc=f"{kind} [n, h, w, c]"),
                Field("activation", activation),
                Field("input_dims", blocks.DIMS),
                Field("output_dims", blocks.DIMS),
            ),
            geometry="resizing",
        ),
        priced_as="" if element is I8 else "adaptive_avg_pool2d",
    )


@dataclass(frozen=True)
class AdaptivePoolAttrs:
    """adaptive_avg_pool2d to this height and width."""

    output: Pair
    clamp: Clamp = Clamp()


def _draw(d: Case) -> Value:
    """Some windows have more than 256 pixels, whose sums have more than 16 bits."""
    size, output = d.pick(
        (d.pair(1, 9), d.pair(1, 9)),
        (d.pair(1, 9), d.pair(1, 9)),
        ((d.integer(16, 20), d.integer(16, 20)), d.pair(1, 2)),
    )
    x = d.input(d.batch(), d.channels(), *size, element=d.pick(*KERNEL_ELEMENTS))
    return d.node("adaptive_avg_pool2d", [x], AdaptivePoolAttrs(output, d.clamp()), x.quant)


class AdaptiveAvgPool2d(Op):
    """Mean of the pixels of each window, halves away from zero, as `avg_pool2d` computes it. Window i of n goes from
    floor(i * size / n) to ceil((i + 1) * size / n), as PyTorch says.

    Input and output have one scale and zero point.
    """

    name = "adaptive_avg_pool2d"
    targets = pooling.ADAPTIVE_AVERAGES
    annotation = NotAnnotated("it shares its targets with avg_pool2d, which is annotated")
    attrs = AdaptivePoolAttrs
    kernels = (_kernel(I8, blocks.ACTIVATION), _kernel(I16, blocks.ACTIVATION_INT16))
    elements = KERNEL_ELEMENTS
    draws = (_draw,)
    limits = ("adaptive average pooling to any size; where all windows are alike it is avg_pool2d",)
    takes_images = True
    each_channel = True

    def claims(self, node: EdgeNode, context: EdgeContext) -> bool:
        return not pooling.divides(node)

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        source = operand(node)
        return first(
            lambda: context.refuse_tensors(node, source),
            lambda: context.refuse_image(source, "its input"),
            lambda: resizing.refuse_sizes(source, node),
            lambda: context.refuse_quant(node, [source], same=True),
            lambda: pooling.refuse_sums(node, context, pooling.widest(node)),
        )

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        _, _, height, width = shape_of(node)
        return [context.node(node, self.name, [context.value(operand(node))], AdaptivePoolAttrs((height, width)))]

    def output_shape(self, inputs: Sequence[Value], attrs: AdaptivePoolAttrs) -> tuple[int, ...]:
        return (*inputs[0].shape[:2], *attrs.output)

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        n, height, width, channels = storage.nhwc(node.output)
        image = inputs[0].reshape(storage.nhwc(node.inputs[0])).astype(np.int64)
        # Sums of what lies above and to the left of each pixel: four of them give that of a window.
        above = np.pad(image, ((0, 0), (1, 0), (1, 0), (0, 0))).cumsum(1).cumsum(2)
        (top, bottom), (left, right) = _spans(image.shape[1], height), _spans(image.shape[2], width)
        rows = above[:, bottom] - above[:, top]
        total = rows[:, :, right] - rows[:, :, left]
        count = ((bottom - top)[:, None] * (right - left)[None, :])[None, :, :, None]
        lo, hi = node.attrs.clamp.quantized(node.output.type)
        return pooling.mean(total, count, lo, hi, node.output.element).reshape(node.output.storage_shape)

    def features(self, node: Node) -> Features:
        n, height, width, channels = storage.nhwc(node.output)
        _, h, w, _ = storage.nhwc(node.inputs[0])
        (top, bottom), (left, right) = _spans(h, height), _spans(w, width)
        rows, columns = bottom - top, right - left
        pixels, taps = n * height * width, n * int(rows.sum()) * int(columns.sum())
        counts = pixels, n * int(rows.sum()) * width, taps
        return Features(
            {
                "pixels": pixels,
                "taps": taps,
                "values": taps * channels,
                **pooling.averages(node.output.element, int(rows.max() * columns.max()), counts, channels),
                **elements(node),
            }
        )

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        return {
            **refs,
            "activation": block_values.activation(node.attrs.clamp, node.output.type),
            "input_dims": block_values.dims(*storage.nhwc(node.inputs[0])),
            "output_dims": block_values.dims(*storage.nhwc(node.output)),
        }


def _spans(size: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Where the windows of an axis begin and end."""
    index = np.arange(count)
    return index * size // count, -(-(index + 1) * size // count)
