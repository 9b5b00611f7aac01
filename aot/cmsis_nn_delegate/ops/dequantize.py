"""int8 to float32 at the border of the graph, with the change back to row-major."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Optional

import numpy as np

from ..edge.nodes import DEQUANTIZE, operand
from ..edge.program_types import EdgeContext, EdgeNode, ImportContext
from ..edge.refusal import Refusal
from ..format import blocks
from ..format.cpp import camel
from ..format.record import F32, I8, I16, I32, Field, Scalar, Struct
from ..graph.ir import Node, Value
from ..graph.tensor_type import Element, Layout, Quant
from . import storage
from .annotation import NotAnnotated
from .case import Case
from .features import Features, elements, runs
from .kernel import KernelSpec, named_for
from .layouts import Layouts
from .op import Op


def _kernel(element: Scalar, doc: str) -> KernelSpec:
    name, kind = named_for("dequantize", element), element.element
    return KernelSpec(
        name,
        Struct(
            f"{camel(name)}Args",
            doc,
            (
                blocks.input("input", element, "batch", "channels", "pixels", doc=f"{kind} [batch, pixels, channels]"),
                blocks.output(
                    F32, "batch", "channels", "pixels", doc="float32 [batch, channels, pixels], 4-byte aligned"
                ),
                Field("batch", I32),
                Field("channels", I32),
                Field("pixels", I32),
                Field("scale", F32),
                blocks.zero_point(Element(kind)),
            ),
        ),
    )


KERNEL = _kernel(
    I8,
    "int8 to float32: x = (q - zero_point) * scale. [batch, pixels, channels] is transposed to [batch, channels, "
    "pixels] on the way; channels = 1 keeps the order.",
)
STATE_KERNEL = _kernel(I16, "The same of int16, whose zero point is 0.")


def _draw_state(d: Case) -> Value:
    """No input of a model has 16 bits."""
    element = Element.INT16
    shape, quant = (d.batch(), d.integer(1, 40)), Quant((2.0 ** -d.integer(9, 15),), 0)
    return d.dequantize(d.constant(shape, element, element.low, element.high, quant))


def _draw(d: Case) -> Value:
    return d.dequantize(d.input(d.batch(), d.channels(), *d.pair(1, 5)))


class Dequantize(Op):
    """x = float32(q - zero point) * float32(scale)."""

    name = "dequantize"
    targets = (DEQUANTIZE,)
    annotation = NotAnnotated("quantization adds it")
    kernels = (KERNEL, STATE_KERNEL)
    draws = (_draw, _draw_state)
    limits = ("int8 or int16 to float32, per tensor, at the border of what is delegated",)
    elements = None
    computes = False
    only_moves = True
    shapeless_input = True
    layouts = Layouts.ANY

    def check(self, node: EdgeNode, context: EdgeContext) -> Optional[Refusal]:
        refusal: Optional[Refusal] = context.refuse_tensors(node)
        if refusal is None:
            refusal = context.refuse_parameters(node)
        return refusal

    def build(self, node: EdgeNode, context: ImportContext) -> list[Node]:
        return [context.node(node, self.name, [context.value(operand(node))])]

    def read_reshaped(self, node: Node, reshape: Node) -> bool:
        # To row-major floats it brings back the order itself.
        source, output = reshape.inputs[0], reshape.output
        return not storage.moves(source, output) or storage.effective_layout(node.output) is Layout.ROW_MAJOR

    def moved_bytes(self, node: Node) -> int:
        # No copy of its own: the elements are only converted in another order, which takes longer.
        _, rows, _ = storage.reorder(node.inputs[0], node.output)
        return 0 if rows == 1 else node.inputs[0].nbytes // 4

    def reference(self, node: Node, inputs: Sequence[np.ndarray]) -> np.ndarray:
        x = (inputs[0].astype(np.int32) - node.inputs[0].zero_point).astype(np.float32) * self._scale(node)
        order = storage.reorder(node.inputs[0], node.output)
        return storage.reordered(x, order).reshape(node.output.storage_shape)

    def features(self, node: Node) -> Features:
        batch, channels, pixels = self._sizes(node)
        # Kernels with words take four bytes that lie together, and four pixels of four channels of images.
        together = channels == 1
        tiles = 0 if together else batch * (channels // 4)
        return Features(
            {
                **elements(node),
                **runs(batch * channels, pixels, shortest=4),
                "words": batch * (pixels // 4) if together else 0,
                "elements beside words": batch * (pixels % 4) if together else 0,
                "four channels": tiles,
                "four channels of four pixels": tiles * (pixels // 4),
                "four channels of last pixels": tiles * (pixels % 4),
                "last channels": 0 if together else batch * (channels % 4),
                "elements of last channels": 0 if together else batch * (channels % 4) * pixels,
            }
        )

    def encode(self, node: Node, refs: Mapping[str, int], scratch_bytes: int) -> Mapping[str, Any]:
        batch, channels, pixels = self._sizes(node)
        return {
            **refs,
            "batch": batch,
            "channels": channels,
            "pixels": pixels,
            "scale": float(self._scale(node)),
            "zero_point": node.inputs[0].zero_point,
        }

    def _sizes(self, node: Node) -> tuple[int, int, int]:
        """(batch, channels, pixels) of the call. Without a change of order it has one channel, not one pixel."""
        batch, pixels, channels = storage.reorder(node.inputs[0], node.output)
        return (batch, 1, channels) if pixels == 1 else (batch, channels, pixels)

    def _scale(self, node: Node) -> np.float32:
        return np.float32(node.inputs[0].scale)
